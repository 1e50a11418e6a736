# construct: made again
# changes: body
ln -sf d/none header
mv header o
