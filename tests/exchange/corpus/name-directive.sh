# construct: names
cp in.txt define; sort define > include; cat include define > export; cat export > else
