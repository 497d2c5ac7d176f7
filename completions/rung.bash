# bash completion for rung. Verbs, options, operations and rungs are the command's own.
_rung() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]}
  local command=${COMP_WORDS[0]} words= operation= each
  COMPREPLY=()
  if [ "$verb" = help ] && [ "$COMP_CWORD" -eq 2 ]; then
    words=$("$command" --help 2>/dev/null |
      awk '/^Verbs:/ { on = 1; next } on && NF == 0 { exit } on { print $1 }')
  elif [ "$COMP_CWORD" -eq 1 ]; then
    words=$("$command" --help 2>/dev/null |
      awk '/^Verbs:/ { on = 1; next } on && NF == 0 { exit } on { print $1 }')
    words+=$'\nhelp\n--help\n--version'
  else
    case $before in
      --device) words="auto cpu cuda sim" ;;
      --devices) words="all cpu,cpu cuda:0,cuda:1" ;;
      --like) words="h200 h100 a100 t4" ;;
      --type) words="f16 bf16 f32 f64 i8 u8 i16 u16 i32 u32 i64 u64" ;;
      --math)
        words="strict fast"
        [ "$verb" != matmul ] || words+=" fixed"
        ;;
      --edge) words="wrap nearest reflect mirror constant:0" ;;
      --border) words="constant:0 edge mirror-edge mirror wrap scipy:reflect numpy:symmetric opencv:reflect101 torch:circular" ;;
      --kernel) words="box3 box5 gauss3 gauss5 sobel-x sobel-y prewitt-x prewitt-y scharr-x scharr-y laplace sharpen identity" ;;
      --scale) words="auto" ;;
      --caches) words="cold hot cold,hot" ;;
      --memory) words="pageable pinned write-combined mapped managed" ;;
      --op) words="sum min max mean" ;;
      --format) words="xyz gro pdb lammps csv npy" ;;
      --preset) words="2016 2019 2021 2023 2025" ;;
      --rung | --against)
        # Of the operation that is named, or that the verb is.
        for each in "${COMP_WORDS[@]:1:2}"; do
          case $each in
            radiator) operation=stencil ;;
            [a-z]*) "$command" ladder "$each" >/dev/null 2>&1 && operation=$each ;;
          esac
        done
        words="auto $("$command" ladder $operation 2>/dev/null |
          awk '{ sub(/^ *[*]? */, "") } $2 == "cpu" || $2 == "gpu" { print $1 }')"
        ;;
      --block | --blocks | --sizes | --samples | --time-out | --threads | --seed | --divide | --steps | --fixed | --weights | --axis | --modulo | --bins | --range | --width | --log | --max | --box | --frames | --select | --with | --volume | --sample | --alpha | --beta | --bits | --part | --origin | --region | --strip | --launches | --budget) return ;;
      -o | --output | --csv | --trace | --picture | --means | --edges | --c | --plots) ;;
      *)
        if [[ $word == -* ]]; then
          words=$("$command" "$verb" --help 2>/dev/null |
            awk '/^Options:/ { on = 1; next } on && NF == 0 { exit }
                 on && match(substr($0, 1, 26), /--[a-z-]+/) { print substr($0, RSTART, RLENGTH); next }
                 on && match($0, /^  -[a-z]/) { print $1 }')
        else
          case $verb in
            tour | ladder | verify | bench | explain | timeline | tune)
              words=$("$command" ladder 2>/dev/null | awk -F: '/^[a-z]+:/ { print $1 }')
              ;;
          esac
        fi
        ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  [ ${#COMPREPLY[@]} -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- "$word")
}
complete -o filenames -F _rung rung
