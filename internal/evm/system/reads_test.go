package system_test

import (
	"testing"

	"heliograph/internal/ledger"
	"heliograph/internal/testenv"
	"heliograph/storage/demo"
)

func TestPrint(t *testing.T) {
	b := newBench(t)
	const ti = "((string,string,address,string,bool,int64,bool,(uint256,(bool,address,bytes,bytes,address))[],(int64,address,int64)),int64,bool,bool,bool,(int64,address,bool,bool,address)[],(int64,int64,int64,int64,bool,address)[],(int64,int64,int64,address,bool,address)[],string)"
	for _, ref := range []ledger.EVMBlockRef{{}, {Before: ledger.TimestampOf(testenv.Now().AddDate(0, -2, 0))}} {
		for id := int64(2001); id <= 2012; id++ {
			r := b.call(t, ref, lz(demo.Alice), lz(0x167), input(t, "getTokenInfo(address)", lz(id)))
			t.Logf("%d %s %d %s", id, r.Code, r.GasUsed, output(t, "int64,"+ti, r.Output))
			for _, who := range []int64{1001, 1005, 1008, 1017} {
				r := b.call(t, ref, lz(demo.Alice), lz(id), input(t, "balanceOf(address)", lz(who)))
				t.Logf("   balance %d %s %x %d", who, r.Code, r.Output, r.GasUsed)
			}
		}
	}
}
