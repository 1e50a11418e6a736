# construct: made again
sort -o header header
sort -r header >q
: >header
