#!/usr/bin/env bash
# Stands in for a program that a feed starts: a link with its name, in the first folder of PATH. Runs the program, and
# kills the process group before, during or after one of the steps, counted in the file STEPS over all programs.
# KILL is "before 1" and the like, or unset; AWAITED is a pattern of files, of which one appears during that step.
name=${0##*/}
kill=${KILL-}
PATH=${PATH#*:}
step=$(($(cat "$STEPS") + 1))
echo "$step" >"$STEPS"

[[ $kill != "before $step" ]] || kill -KILL 0
if [[ $kill == "during $step" ]]; then
  "$name" "$@" &
  while kill -0 $! && ! compgen -G "$AWAITED"; do sleep 0.001; done &>/dev/null
  kill -KILL 0
fi
"$name" "$@"
status=$?
[[ $kill != "after $step" ]] || kill -KILL 0
exit "$status"
