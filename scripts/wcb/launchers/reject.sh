# SPDX-License-Identifier: Apache-2.0
reject() { # error, seen, expected, hint
    printf 'error: %s\n  where:    %s\n  seen:     %s\n  expected: %s\n  hint:     %s\n' "$1" "$program" "$2" "$3" "$4" >&2
    exit 2
}
