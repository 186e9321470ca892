"""Tables of the page. Cells carry the exact value in data-v: for sorting, and so that rounding for the eye loses nothing."""

from __future__ import annotations

from html import escape

from ..output import Column, Result

MOST_ROWS = 200
SCALES = {"(ns)": (("s", 1e9), ("ms", 1e6), ("µs", 1e3)), "(B)": (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))}


def table(result: Result, name: str) -> str:
    """A sortable table; what exceeds MOST_ROWS is left to the command line, which is said below it. `name` for readers of
    the page's source."""
    heads, cells = [], []
    for number, column in enumerate(result.columns):
        values = [row[number] for row in result.rows]
        head, written = _column(column, values)
        text = any(isinstance(value, str) for value in values)
        heads.append(f'<th scope="col"{" class=text" if text else ""}><button>{escape(head)}</button></th>')
        cells.append([_cell(value, said) for value, said in zip(values, written)])
    body = "".join("<tr>" + "".join(row) + "</tr>" for row in list(zip(*cells))[:MOST_ROWS])
    more = len(result.rows) - MOST_ROWS
    rest = (
        f'<p class="about">{more:,} more rows: wirecell-profile summary --section {escape(name)}</p>'
        if more > 0
        else ""
    )
    return (
        f'<div class="scroll" tabindex="0"><table class="sortable" data-table="{escape(name)}"><thead><tr>{"".join(heads)}</tr>'
        f"</thead><tbody>{body}</tbody></table></div>{rest}"
    )


def _column(column: Column, values: list) -> tuple[str, list[str]]:
    """Heading and texts of a column; times and sizes in a unit that suits the largest of them."""
    numbers = [abs(value) for value in values if isinstance(value, (int, float))]
    for unit, scales in SCALES.items():
        if unit in column.name and numbers:
            for name, scale in scales:
                if max(numbers) >= 10 * scale:
                    head = column.name.replace(unit, f"({name})")
                    return head, [
                        f"{value / scale:,.3f}" if isinstance(value, (int, float)) else _plain(column, value)
                        for value in values
                    ]
    return column.name, [_plain(column, value) for value in values]


def _plain(column: Column, value: object) -> str:
    """As the command line writes it."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{column.rounded(value):,.{column.digits}f}" if isinstance(value, float) else column.text(value)


def _cell(value: object, text: str) -> str:
    if isinstance(value, (int, float)):
        return f'<td data-v="{value!r}">{escape(text)}</td>'
    return (
        f'<td class="text" title="{escape(text)}">{escape(text)}</td>' if value is not None else "<td></td>"
    )


def pairs(rows: list[tuple[str, str]], heads: tuple[str, str] = ("", "")) -> str:
    """A table of names and values."""
    head = f"<thead><tr><th scope=col class=text>{escape(heads[0])}</th><th scope=col class=text>{escape(heads[1])}</th></tr></thead>"
    body = "".join(f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in rows)
    return f'<div class="scroll" tabindex="0"><table class="manifest">{head if any(heads) else ""}<tbody>{body}</tbody></table></div>'


def reasons(missing: dict[str, str]) -> str:
    """What could not be made and why, a line per reason."""
    by_reason: dict[str, list[str]] = {}
    for what, why in missing.items():
        by_reason.setdefault(why, []).append(what)
    lines = "".join(
        f"<li>{escape(why)}: no {escape(', '.join(what))}</li>" for why, what in by_reason.items()
    )
    return f'<ul class="missing">{lines}</ul>'
