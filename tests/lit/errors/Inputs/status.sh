# Runs a command, prints all it says (standard output and error) and, as the last line, its exit status.
# Bad input must never take long: a command that hangs is stopped, which shows as status 124.
if command -v timeout >/dev/null 2>&1; then
  timeout 60 "$@" 2>&1
else
  "$@" 2>&1
fi
echo "exit status $?"
