java -Xms64m -Xmx256m -Duser.language=en -cp /opt/ycsb/lib17/* site.ycsb.Client -t -db site.ycsb.BasicDB -P ../workloada -p recordcount=1000 -p fieldcount=4 -p fieldlength=1024 -p operationcount=10000 -p measurementtype=hdrhistogram -p hdrhistogram.percentiles=50,95,99,99.9,99.99 -p hdrhistogram.fileoutput=true -p hdrhistogram.output.path=hdr- -p status.interval=10 -threads 2 -s
# stdout -> basicdb-hdr-fileoutput.log, stderr -> basicdb-hdr-fileoutput.stderr, hdr-*.hdr -> hdrfiles/
# exit status: 0
