// SPDX-License-Identifier: Apache-2.0
// Job arguments given with -A are text; these functions read numbers, truth values and lists from it.
{
    whole(name, value)::
        local digits = if std.isString(value) && std.startsWith(value, '-') then value[1:] else value;
        if !std.isString(value) then value
        else if digits != '' && [c for c in std.stringChars(digits) if c < '0' || c > '9'] == [] then std.parseInt(value)
        else error "argument '" + name + "' takes a whole number, not '" + value + "'",

    /// Return whether the text consists of digits with at most one point.
    number(name, value)::
        local text = if std.isString(value) && std.startsWith(value, '-') then value[1:] else value;
        local parts = if std.isString(value) then std.split(text, '.') else [];
        local good(part) = [c for c in std.stringChars(part) if c < '0' || c > '9'] == [];
        if !std.isString(value) then value
        else if std.length(parts) <= 2 && parts[0] != '' && parts[std.length(parts) - 1] != '' && good(std.join('', parts))
        then std.parseJson(value)
        else error "argument '" + name + "' takes a number, not '" + value + "'",

    boolean(name, value)::
        if !std.isString(value) then value
        else if std.member(['true', '1'], value) then true
        else if std.member(['false', '0'], value) then false
        else error "argument '" + name + "' takes true or false, not '" + value + "'",

    list(value)::
        if std.isArray(value) then value
        else [word for word in std.split(std.strReplace(value, ' ', ''), ',') if word != ''],

    /// Return the arguments of a job by name, from strings or values by kind: { whole: { threads: threads }, any: { input: input } }.
    read(kinds)::
        local readers = { whole: $.whole, real: $.number, boolean: $.boolean, list(name, value): $.list(value), any(name, value): value };
        std.foldl(function(all, kind) all + { [name]: readers[kind](name, kinds[kind][name]) for name in std.objectFields(kinds[kind]) },
                  std.objectFields(kinds),
                  {}),
}
