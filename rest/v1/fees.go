package v1

import (
	"encoding/hex"

	"heliograph/rest"
)

// maxTransaction is the maximum size of a transaction in bytes. It is greater than the network's maximum.
const maxTransaction = 256 << 10

// exampleTransaction is a transfer of 500 of the token 0.0.2001 from "Alice" to "Bob" in the demo network, with one signature. It is a serialized
// protobuf message Transaction.
const exampleTransaction = "\x2a\x3f\x0a\x39\x0a\x0d\x0a\x06\x08\x80\xe2\xcf\xaa\x06\x12\x03\x18\xe9\x07\x12\x02\x18\x03\x18\x80\xc2\xd7\x2f\x22\x02\x08\x78" +
	"\x72\x1b\x12\x19\x0a\x03\x18\xd1\x0f\x12\x08\x0a\x03\x18\xe9\x07\x10\xe7\x07\x12\x08\x0a\x03\x18\xea\x07\x10\xe8\x07\x12\x02\x0a\x00"

func feeEndpoints() []rest.Endpoint {
	return []rest.Endpoint{
		{
			Path: "/network/fees", Family: rest.Modern, Params: feeParams, Document: "fee_estimate.graphql",
			Body: &rest.Body{
				Types: []string{"application/protobuf", "application/x-protobuf"}, MaxBytes: maxTransaction, Bind: bindTransactionBytes,
				Doc: "A transaction: the serialized HAPI message Transaction.", Example: []byte(exampleTransaction),
			},
			Shape: rest.Shape{OmitEmpty: []string{"notes"}}, MaxAge: networkAge,
		},
	}
}

var feeParams = []rest.Param{
	{
		Name: "mode", Read: rest.ReadWord("INTRINSIC", "STATE"), Bind: rest.Texts("mode"),
		Doc: "The data that the estimate uses: only the transaction (INTRINSIC, the default), or also the state of the ledger (STATE).",
	},
	{
		Name: "high_volume_throttle", Read: rest.Read{Convert: rest.ReadInt.Convert, Form: rest.Form{Max: maxThrottle}}, Check: throttleInRange, Bind: bindThrottle,
		Doc: "Utilization of the high-volume throttle in basis points, 0 to 10000. Default: 0. Used only in mode STATE.",
	},
}

// maxThrottle is the maximum utilization of a throttle, in basis points.
const maxThrottle = 10_000

func throttleInRange(v rest.Value) string {
	const name = "highVolumeThrottle"
	if complaint := rest.AtLeast(name, 0)(v); complaint != "" {
		return complaint
	}
	return rest.AtMost(name, maxThrottle)(v)
}

func bindThrottle(r *rest.Request, values []rest.Value) error {
	r.Set("throttle", int(values[0].Number))
	return nil
}

// bindTransactionBytes binds the transaction in the graph's encoding of bytes.
func bindTransactionBytes(r *rest.Request, body []byte) error {
	r.Set("transaction", "0x"+hex.EncodeToString(body))
	return nil
}
