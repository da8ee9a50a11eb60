#!/bin/sh
# compare.sh HEDDLE PLUGIN KERNEL FOLDER: what LLVM's opt does with the plug-in against what Heddle does itself, for metadata and for what is printed.
set -eu
heddle=$1 plugin=$2 kernel=$3 folder=$4
mkdir -p "$folder"
"$heddle" build "$kernel" --emit ir -o "$folder/plain.ll"
"$heddle" build "$kernel" --emit annotated-ir -o "$folder/driver.ll"
opt -load-pass-plugin="$plugin" -passes=heddle-uniformity,heddle-global-id,heddle-cache-hints -S "$folder/plain.ll" -o "$folder/opt.ll"
grep -q '!heddle.uniformity' "$folder/opt.ll"
grep -q '!heddle.cache' "$folder/opt.ll"
# Both once through LLVM's printer, without the line that has the file's name.
for f in driver opt; do
    opt -S "$folder/$f.ll" | sed '/^; ModuleID/d' > "$folder/$f.clean"
done
diff "$folder/driver.clean" "$folder/opt.clean"
"$heddle" opt --passes='print<uniformity>,print<surfaces>,print<global-id>,print<cache-hints>' --disable-output "$folder/plain.ll" > "$folder/driver.txt"
opt -load-pass-plugin="$plugin" -passes='print<heddle-uniformity>,print<heddle-surfaces>,print<heddle-global-id>,print<heddle-cache-hints>' \
    -disable-output "$folder/plain.ll" 2> "$folder/opt.txt"
grep -q 'uniformity of' "$folder/opt.txt"
diff "$folder/driver.txt" "$folder/opt.txt"
