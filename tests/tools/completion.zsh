# completion.zsh FOLDER LINE: what zsh makes of LINE when Tab is pressed, printed after "completed: ".
zmodload zsh/zpty
zpty shell "PS1= TERM=dumb zsh -f -i"
zpty -w shell "fpath=(${(q)1} \$fpath); autoload -U compinit; compinit -u -D; unsetopt beep; echo re\"\"ady"
until [[ $all == *ready* ]]; do zpty -r shell line || break; all+=$line; done
zpty -w -n shell "$2"$'\t\x01echo completed: \x05\n'
all=
repeat 40; do
  zpty -r shell line '*'$'\n' || break
  all+=$line
  [[ $line != completed:* ]] || break
done
print -r -- ${${line#completed: }%%$'\r'*}
