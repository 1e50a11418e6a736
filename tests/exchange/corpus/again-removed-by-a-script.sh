# construct: made again
# changes: body
# needs: python3
python3 - <<'END'
import os
os.remove("body")
END
sort in.txt > sorted
