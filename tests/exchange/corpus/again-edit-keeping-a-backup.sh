# construct: in-place edit
# What sed makes beside the file to edit is none that a link of before led to, of the name that its backup gets.
cp header h2; sed -i 's/e/E/' h2; cp body work; sed -i.bak 's/a/A/' work; paste -d, h2 work > joined
