# construct: times
mkdir d; cp in.txt d/; sleep 0.05; touch stamp; sleep 0.05; cp body e; find d e -newer stamp > l
