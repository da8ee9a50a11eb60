#!/bin/sh
# compare.sh HEDDLE PLUGIN KERNEL FOLDER: what LLVM's opt does with the plug-in against what Heddle does itself, for metadata and for what is printed.
set -eu
heddle=$1 plugin=$2 kernel=$3 folder=$4
mkdir -p "$folder"
"$heddle" build "$kernel" --emit ir -o "$folder/plain.ll"
"$heddle" build "$kernel" --emit annotated-ir -o "$folder/driver.ll"
# The names under a heading of the help, with a prefix, as a pipeline.
passes() {
    "$heddle" opt --help | sed -n "/^Passes that $1:/,/^\$/s/^  \([^ ][^ ]*\) .*/$2/p" | paste -sd, -
}
attach=$(passes 'attach metadata' 'heddle-\1')
print=$(passes print '\1')
print_prefixed=$(echo "$print" | sed 's/print</print<heddle-/g')
opt -load-pass-plugin="$plugin" -passes="$attach" -S "$folder/plain.ll" -o "$folder/opt.ll"
grep -q '!heddle.uniformity' "$folder/opt.ll"
grep -q '!heddle.cache' "$folder/opt.ll"
# Both once through LLVM's printer, without the line that has the file's name.
for f in driver opt; do
    opt -S "$folder/$f.ll" | sed '/^; ModuleID/d' > "$folder/$f.clean"
done
diff "$folder/driver.clean" "$folder/opt.clean"
"$heddle" opt --passes="$print" --disable-output "$folder/plain.ll" > "$folder/driver.txt"
opt -load-pass-plugin="$plugin" -passes="$print_prefixed" -disable-output "$folder/plain.ll" 2> "$folder/opt.txt"
grep -q 'uniformity of' "$folder/opt.txt"
diff "$folder/driver.txt" "$folder/opt.txt"
