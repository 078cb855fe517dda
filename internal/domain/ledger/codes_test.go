package ledger_test

import (
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heliograph/internal/domain/ledger"
)

// transactionTypeNames lists all transaction types.
const transactionTypeNames = `7 CONTRACTCALL, 8 CONTRACTCREATEINSTANCE, 9 CONTRACTUPDATEINSTANCE, 10 CRYPTOADDLIVEHASH, 11 CRYPTOCREATEACCOUNT,
12 CRYPTODELETE, 13 CRYPTODELETELIVEHASH, 14 CRYPTOTRANSFER, 15 CRYPTOUPDATEACCOUNT, 16 FILEAPPEND, 17 FILECREATE, 18 FILEDELETE, 19 FILEUPDATE,
20 SYSTEMDELETE, 21 SYSTEMUNDELETE, 22 CONTRACTDELETEINSTANCE, 23 FREEZE, 24 CONSENSUSCREATETOPIC, 25 CONSENSUSUPDATETOPIC,
26 CONSENSUSDELETETOPIC, 27 CONSENSUSSUBMITMESSAGE, 28 UNCHECKEDSUBMIT, 29 TOKENCREATION, 31 TOKENFREEZE, 32 TOKENUNFREEZE, 33 TOKENGRANTKYC,
34 TOKENREVOKEKYC, 35 TOKENDELETION, 36 TOKENUPDATE, 37 TOKENMINT, 38 TOKENBURN, 39 TOKENWIPE, 40 TOKENASSOCIATE, 41 TOKENDISSOCIATE,
42 SCHEDULECREATE, 43 SCHEDULEDELETE, 44 SCHEDULESIGN, 45 TOKENFEESCHEDULEUPDATE, 46 TOKENPAUSE, 47 TOKENUNPAUSE, 48 CRYPTOAPPROVEALLOWANCE,
49 CRYPTODELETEALLOWANCE, 50 ETHEREUMTRANSACTION, 51 NODESTAKEUPDATE, 52 UTILPRNG, 53 TOKENUPDATENFTS, 54 NODECREATE, 55 NODEUPDATE,
56 NODEDELETE, 57 TOKENREJECT, 58 TOKENAIRDROP, 59 TOKENCANCELAIRDROP, 60 TOKENCLAIMAIRDROP, 65 STATESIGNATURETRANSACTION,
66 HINTSPREPROCESSINGVOTE, 67 HINTSKEYPUBLICATION, 68 HINTSPARTIALSIGNATURE, 69 HISTORYPROOFSIGNATURE, 70 HISTORYPROOFKEYPUBLICATION,
71 HISTORYPROOFVOTE, 72 CRSPUBLICATION, 74 ATOMICBATCH, 75 HOOKSTORE, 76 HOOKDISPATCH, 77 LEDGERIDPUBLICATION, 78 REGISTEREDNODECREATE,
79 REGISTEREDNODEUPDATE, 80 REGISTEREDNODEDELETE, 81 MIGRATIONROOTHASHVOTE, 87 CLPRREDACTMESSAGE, 91 CLPRENDPOINTPUBLICATION`

func TestTransactionTypeNames(t *testing.T) {
	names := make(map[int]string)
	for entry := range strings.SplitSeq(transactionTypeNames, ",") {
		code, name, _ := strings.Cut(strings.TrimSpace(entry), " ")
		n, err := strconv.Atoi(code)
		if err != nil {
			t.Fatal(err)
		}
		names[n] = name
	}
	for code := math.MinInt16; code <= math.MaxInt16; code++ {
		want, known := names[code]
		if !known {
			want = "UNKNOWN"
		}
		typ := ledger.TransactionType(code)
		if typ.String() != want {
			t.Errorf("%d is %s, want %s", code, typ, want)
		}
		if !known {
			continue
		}
		for _, text := range []string{want, strings.ToLower(want), want[:1] + strings.ToLower(want[1:])} {
			if back, err := ledger.ParseTransactionType(text); err != nil || back != typ {
				t.Errorf("%s is %d, %v; want %d", text, back, err, code)
			}
		}
	}
}

func TestParseTransactionTypeRejects(t *testing.T) {
	for _, tc := range []struct{ name, in string }{
		{"empty", ""},
		{"the name of no type", "UNKNOWN"},
		{"a number", "14"},
		{"the name of the body's field", "cryptoCreateAccount_"},
		{"space", " CRYPTOTRANSFER"},
		{"a long s for an S", "CRYPTOTRANſFER"},
		{"a dotless i for an I", "FıLECREATE"},
		{"a response code", "SUCCESS"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ledger.ParseTransactionType(tc.in)
			wantError(t, err, ledger.ErrSyntax, strconv.Quote(tc.in)+" is the name of no transaction type")
		})
	}
}

func TestResponseCodeNames(t *testing.T) {
	for code, want := range map[ledger.ResponseCode]string{
		0: "OK", 1: "INVALID_TRANSACTION", 10: "INSUFFICIENT_PAYER_BALANCE", 21: "UNKNOWN", 22: "SUCCESS",
		104: "FEE_SCHEDULE_FILE_PART_UPLOADED",
		220: "SUCCESS_BUT_MISSING_EXPECTED_OPERATION", 312: "WRONG_NONCE",
	} {
		if code.String() != want {
			t.Errorf("%d is %s, want %s", int16(code), code, want)
		}
	}
	for _, code := range []ledger.ResponseCode{-1, 32767} {
		if code.String() != ledger.Unknown {
			t.Errorf("%d is %s", int16(code), code)
		}
	}
}

// The table of names also marks the codes that are successes. Both must agree, and each name must be unique.
func TestResponseCodesAgreeWithTheTable(t *testing.T) {
	file, err := os.Open("data/transaction_results.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var successes []ledger.ResponseCode
	seen := map[string]bool{}
	for _, row := range rows[1:] {
		n, err := strconv.ParseInt(row[0], 10, 16)
		code := ledger.ResponseCode(n)
		if err != nil || code.String() != row[1] || seen[row[1]] {
			t.Errorf("%s %s is %s, %v", row[0], row[1], code, err)
		}
		seen[row[1]] = true
		if row[2] == "true" {
			successes = append(successes, code)
		}
	}
	if got := ledger.SuccessCodes(); !slices.Equal(got, successes) {
		t.Errorf("successes are %v, want %v", got, successes)
	}
}

func TestSuccessCodesAreACopy(t *testing.T) {
	ledger.SuccessCodes()[0] = 0
	if got := ledger.SuccessCodes()[0]; got != 22 {
		t.Errorf("a caller changed it to %v", got)
	}
}

func TestTransactionKnowsItsID(t *testing.T) {
	tx := &ledger.Transaction{PayerAccountID: 1234, ValidStartTimestamp: 7_000_000_042, ConsensusTimestamp: 9}
	if got := tx.TransactionID().String(); got != "0.0.1234-7-000000042" {
		t.Errorf("got %s", got)
	}
}
