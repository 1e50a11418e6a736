# construct: inplace
# whole: no
touch stamp; cp stamp copy; find stamp copy > list
