# construct: substitution
# shells: bash
comm -12 <(sort in.txt) <(sort body | sed p) > common; paste common body > pasted
