package decoding

import (
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"heliograph/graph"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/ledger"
)

// TestEmptyOutput decodes calls of a function without results: those that succeeded have an empty list of results, also
// if the table has null for an empty output, and a call that failed has none.
func TestEmptyOutput(t *testing.T) {
	t.Parallel()
	input := crypto.Keccak256([]byte("run()"))[:4]
	calls, err := new(Fields).ContractActionDecodedCall(t.Context(), rowplan.Request{}, []*ledger.ContractAction{
		{Input: input, ResultDataType: "OUTPUT"},
		{Input: input, ResultDataType: "OUTPUT", ResultData: []byte{}},
		{Input: input, ResultDataType: "REVERT_REASON"},
	}, graph.ContractActionDecodedCallArgs{Abi: []string{"function run()"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := calls()
	if err != nil {
		t.Fatal(err)
	}
	for i, known := range []bool{true, true, false} {
		if got[i] == nil || len(got[i].Results) != 0 || (got[i].Results != nil) != known {
			t.Errorf("call %d: %+v", i, got[i])
		}
	}
}
