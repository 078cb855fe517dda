package fees

import "github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"

// keys returns the number of keys that can sign, including nested ones. Thresholds are ignored: every key of a list counts.
func keys(list ...*services.Key) int64 {
	var n int64
	for _, k := range list {
		switch key := k.GetKey().(type) {
		case *services.Key_Ed25519, *services.Key_ECDSASecp256K1, *services.Key_ECDSA_384:
			n++
		case *services.Key_ThresholdKey:
			n += keys(key.ThresholdKey.GetKeys().GetKeys()...)
		case *services.Key_KeyList:
			n += keys(key.KeyList.GetKeys()...)
		}
	}
	return n
}
