# SPDX-License-Identifier: Apache-2.0
"""A run of a campaign, from its plan to its end."""

from __future__ import annotations

import sys

from wirecell_profile.path_names import shell_word, url_hint
from wirecell_profile.terminal import visible
from wirecell_profile.units import counted

from . import input_list, lock, outliers, ownership, report, resume, settings, summary
from .cluster import connected, job_script
from .dispatch import Dispatcher, Outcomes
from .engine import Engine
from .errors import CampaignError, UsageError, disk_error
from .interrupts import Interrupts
from .layout import Layout, write_json
from .options import BATCH, RunOptions
from .plan import Plan
from .progress import SHOWN, Progress, shortened
from .publish import require_links
from .resume import Found, State
from .task import Task
from .tls import check as check_tls

REDONE = (State.OTHER_SETTINGS, State.OTHER_INPUT, State.DOUBTFUL)  # by --redo


def run_campaign(options: RunOptions, plan: Plan) -> int:
    """Run a campaign; return the exit status."""
    check_tls(options.cluster)
    layout = Layout(options.output)
    ownership.check(layout, options, plan)
    if options.dry_run:
        return show_plan(options, plan, layout)
    is_new = not layout.internal.is_dir()
    try:
        layout.make()
        require_links(layout)
    except OSError as error:
        raise disk_error(
            "cannot write the output folder",
            error,
            "choose another by --output, or give write permission",
        ) from None
    with lock.held(layout.lock):
        ownership.make_room(layout, is_new)
        return run_locked(options, plan, layout)


def show_plan(options: RunOptions, plan: Plan, layout: Layout) -> int:
    """Print the plan (--dry-run)."""
    if layout.records.is_dir():
        entries, digest = list(plan.entries.values()), plan.settings.digest()
        found = resume.look(layout, entries, digest, options.quick, options.strict)
        for state in State:
            if names := found.names(state):
                print(f"{len(names)} {state.value}")
    else:
        print(f"{len(plan.entries)} {State.TO_DO.value}")
    if plan.unreadable:
        print(
            f"not readable here: {counted(len(plan.unreadable), 'input')}: {shortened(list(plan.unreadable))}"
        )
    shown = [f"{name}={value}" for name, value in (plan.settings.arguments | plan.threads).items()]
    print(
        f"{plan.program} ({plan.settings.program['commit']}) -c {plan.settings.config} {' '.join(shown)}".rstrip()
    )
    print(f"output: {visible(str(layout.root))}")
    if options.cluster.where in BATCH:
        print(
            f"\nthe script of each of {options.cluster.workers} jobs:\n\n{job_script(options.cluster, layout)}"
        )
    return 0


def run_locked(options: RunOptions, plan: Plan, layout: Layout) -> int:
    """Run the campaign as the only client of the folder."""
    resume.clean_partials(layout)
    found = prepare_folder(options, plan, layout)
    resume.clean_scratch(layout)
    if (
        plan.unreadable
        and options.stop_at_failure
        and any(found.states[name] is not State.DONE for name in plan.unreadable)
    ):
        inputs = {plan.entries[name].input: why for name, why in plan.unreadable.items()}
        raise CampaignError(
            f"cannot read {counted(len(plan.unreadable), 'input')}",
            seen="; ".join(f"{path}: {why}" for path, why in list(inputs.items())[:SHOWN]),
            hint=next(
                filter(None, map(url_hint, inputs)), "correct the list, or skip them by --on-error skip"
            ),
        )
    names = [name for name in plan.entries if found.states[name] is not State.DONE]
    for name in names:
        layout.failure(name).unlink(missing_ok=True)
    progress = Progress(len(plan.entries), len(found.records))
    progress.say(
        f"{counted(len(plan.entries), 'file')}, {len(found.records)} done before, {len(names)} to do; output: {visible(str(layout.root))}"
    )
    outcomes, status = Outcomes(done=dict(found.records)), 0
    if names:
        try:
            with Interrupts(progress.say) as interrupts:
                outcomes = dispatch(options, plan, layout, names, found, progress, interrupts)
                status = interrupts.exit_status
        except CampaignError:
            report.write(layout)
            raise
    return finish(options, layout, outcomes, status, len(plan.entries))


def prepare_folder(options: RunOptions, plan: Plan, layout: Layout) -> Found:
    """Finish or remove the remains of earlier runs. Raise UsageError if earlier outputs have other settings."""
    digest = plan.settings.digest()
    before = settings.read(layout)
    if before and before["digest"] != digest and any(layout.records.iterdir()) and not options.redo:
        raise settings.changed(before["settings"], plan.settings, layout.root)
    found = resume.look(layout, list(plan.entries.values()), digest, options.quick, options.strict)
    ownership.take_names(found, layout, options.overwrite)
    other = [name for state in REDONE for name in found.names(state)]
    if other and not options.redo:
        raise UsageError(
            f"{counted(len(other), 'file')} {'was' if len(other) == 1 else 'were'} done with other settings, "
            "from other inputs, or with warnings",
            str(layout.root),
            shortened([f"{name}: {found.states[name].value}" for name in other]),
            hint="make them again by --redo, or choose another folder by --output",
        )
    for name in found.names(State.DAMAGED):
        print(
            f"{visible(name)} or its record is damaged; moved to {resume.set_aside(layout, name)} and made again",
            file=sys.stderr,
        )
    for name in other:
        resume.forget(layout, name)
    settings.write(layout, plan.settings)
    write_json(layout.names, list(plan.entries))
    return found


def dispatch(
    options: RunOptions,
    plan: Plan,
    layout: Layout,
    names: list[str],
    found: Found,
    progress: Progress,
    interrupts: Interrupts,
) -> Outcomes:
    """Process the files on the workers."""

    def prepare(name: str, attempt: str, attempt_index: int) -> Task:
        return Task(
            root=str(layout.root),
            name=name,
            input=str(plan.entries[name].input),
            attempt=attempt,
            attempt_index=attempt_index,
            program=str(plan.program),
            config=plan.settings.config,
            arguments=plan.settings.arguments | plan.threads,
            settings=plan.settings.digest(),
            commit=plan.settings.program["commit"],
            files=[plan.settings.arguments[argument] for argument in plan.settings.files],
            search_path=plan.settings.search_path,
            timeout=options.timeout,
            record_profile=options.record_profiles,
            strict=options.strict,
            local_scratch=options.scratch,
            input_seen=name not in plan.unreadable,
        )

    def readable(name: str) -> bool:
        return name in plan.unreadable or not input_list.unreadable([plan.entries[name]])

    with connected(options.cluster, layout) as (client, supply):
        engine = Engine(client, supply)
        if not options.cluster.is_own:
            engine.require_package()
        dispatcher = Dispatcher(
            layout,
            engine,
            prepare,
            plan.settings.digest(),
            options.retries,
            options.stop_at_failure,
            options.worker_timeout,
            progress,
            interrupts.poll,
            readable,
        )
        outcomes = dispatcher.run(names, found.records)
    if options.cluster.is_own or len(outcomes.done) == len(plan.entries):
        resume.clean_scratch(layout)
    return outcomes


def finish(options: RunOptions, layout: Layout, outcomes: Outcomes, status: int, total: int) -> int:
    """Write the manifest and the summaries, and print the result; return the exit status."""
    now = report.write(layout)
    for failure in now.failures:
        print(
            f"\n{visible(failure['name'])} failed, attempts: {failure['attempts']}\n{failure['block']}",
            file=sys.stderr,
        )
    doubtful = [name for name, known in outcomes.done.items() if known.get("warnings")]
    if doubtful:
        print(
            f"{counted(len(doubtful), 'file')} with warnings: {shortened(doubtful)}; "
            f"to read them: wirecell-campaign status {shell_word(layout.root)}",
            file=sys.stderr,
        )
    if changed := summary.changed_files(now.records):
        print(f"{summary.CHANGED}: {shortened(changed)}", file=sys.stderr)
    if strange := outliers.find(now.records):
        print(f"outliers: {outliers.as_line(strange)}", file=sys.stderr)
    left = total - len(outcomes.done) - len(outcomes.failed)
    print(
        f"{len(outcomes.done)} of {total} done, {len(outcomes.failed)} failed, {left} not done; {visible(str(layout.root))}"
    )
    if outcomes.stopped_by and left:
        print(f"not all files were tried: {outcomes.stopped_by}", file=sys.stderr)
    if left or outcomes.failed:
        print("the same command continues from here", file=sys.stderr)
    if options.record_profiles and not status and outcomes.done:
        print(f"profile of all files: {visible(str(report.join_profiles(layout, options.timeout)))}")
    return status or (1 if left or outcomes.failed else 0)
