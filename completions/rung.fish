# fish completion for rung. Verbs, options, operations and rungs are the command's own.
function __rung_verbs
    rung --help 2>/dev/null | awk '/^Verbs:/ { on = 1; next } on && NF == 0 { exit }
        on { name = $1; $1 = ""; sub(/^ /, ""); print name "\t" $0 }'
end

function __rung_operations
    rung ladder 2>/dev/null | awk -F: '/^[a-z]+:/ { print $1 }'
end

# Of the operation that is named, or that the verb is.
function __rung_rungs
    set -l operation
    for each in (commandline -opc)[2..3]
        test "$each" = radiator; and set each stencil
        string match -qr '^[a-z]' -- $each; and rung ladder $each >/dev/null 2>&1; and set operation $each
    end
    echo auto
    rung ladder $operation 2>/dev/null |
        awk '{ sub(/^ *[*]? */, "") } $2 == "cpu" || $2 == "gpu" { print $1 }'
end

function __rung_options
    set -l words (commandline -opc)
    rung $words[2] --help 2>/dev/null | awk '/^Options:/ { on = 1; next } on && NF == 0 { exit }
        on && match(substr($0, 1, 26), /--[a-z-]+/) { print substr($0, RSTART, RLENGTH); next }
        on && match($0, /^  -[a-z]/) { print $1 }'
end

function __rung_after
    set -l words (commandline -opc)
    test $words[-1] = $argv[1]
end

function __rung_wants_operation
    set -l words (commandline -opc)
    test (count $words) -ge 2; or return
    contains -- $words[2] tour; and return
    test (count $words) -eq 2; and contains -- $words[2] ladder verify bench explain timeline tune
end

complete -c rung -f -n 'test (count (commandline -opc)) -eq 1' -a '(__rung_verbs)'
complete -c rung -f -n 'test (count (commandline -opc)) -eq 1' -a help
complete -c rung -f -n '__rung_after help' -a '(__rung_verbs)'
complete -c rung -f -n __rung_wants_operation -a '(__rung_operations)'
complete -c rung -n 'test (count (commandline -opc)) -gt 1; and string match -q -- "-*" (commandline -ct)' -a '(__rung_options)'
complete -c rung -f -n '__rung_after --rung; or __rung_after --against' -a '(__rung_rungs)'
complete -c rung -f -n '__rung_after --device' -a 'auto cpu cuda sim sim:h200 sim:h100 sim:a100 sim:t4'
complete -c rung -f -n '__rung_after --devices' -a 'all cpu,cpu cuda:0,cuda:1'
complete -c rung -f -n '__rung_after --like' -a 'h200 h100 a100 t4'
complete -c rung -f -n '__rung_after --type' -a 'f16 bf16 f32 f64 i8 u8 i16 u16 i32 u32 i64 u64'
complete -c rung -f -n '__rung_after --math' -a 'strict fast'
complete -c rung -f -n '__rung_after --math; and __fish_seen_subcommand_from matmul' -a fixed
complete -c rung -f -n '__rung_after --caches' -a 'cold hot cold,hot'
complete -c rung -f -n '__rung_after --memory' -a 'pageable pinned write-combined mapped managed'
complete -c rung -f -n '__rung_after --edge' -a 'wrap nearest reflect mirror constant:0'
complete -c rung -f -n '__rung_after --op' -a 'sum min max mean'
complete -c rung -f -n '__rung_after --format' -a 'xyz gro pdb lammps csv npy'
complete -c rung -f -n '__rung_after --preset' -a '2016 2019 2021 2023 2025'
