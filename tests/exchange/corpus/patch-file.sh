# construct: inplace
# needs: patch
cp in.txt orig; tr a A < in.txt > changed; diff -u -L orig -L changed orig changed > fix.patch; patch -s orig fix.patch; cat orig > done
