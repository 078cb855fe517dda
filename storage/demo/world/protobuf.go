package world

import "google.golang.org/protobuf/encoding/protowire"

// message encodes a protobuf message field by field. It omits zero numbers and nil bytes, which are the defaults.
type message []byte

func (m message) num(field protowire.Number, v int64) message {
	if v == 0 {
		return m
	}
	m = protowire.AppendTag(m, field, protowire.VarintType)
	return protowire.AppendVarint(m, uint64(v))
}

// signed appends a zigzag number (sint64).
func (m message) signed(field protowire.Number, v int64) message {
	return m.num(field, int64(protowire.EncodeZigZag(v)))
}

func (m message) bytes(field protowire.Number, v []byte) message {
	if v == nil {
		return m
	}
	m = protowire.AppendTag(m, field, protowire.BytesType)
	return protowire.AppendBytes(m, v)
}

func (m message) text(field protowire.Number, v string) message {
	if v == "" {
		return m
	}
	return m.bytes(field, []byte(v))
}

// msg appends a sub-message, even if it is empty.
func (m message) msg(field protowire.Number, v message) message {
	m = protowire.AppendTag(m, field, protowire.BytesType)
	return protowire.AppendBytes(m, v)
}

// entityID returns an AccountID, ContractID, TokenID, TopicID or FileID in shard 0 and realm 0. All have the number in field 3.
func entityID(id int64) message { return message(nil).num(3, id) }

func timestampOf(ns int64) message { return message(nil).num(1, ns/Second).num(2, ns%Second) }

func transactionID(payer, validStart int64, scheduled bool, nonce int64) message {
	m := message(nil).msg(1, timestampOf(validStart)).msg(2, entityID(payer))
	if scheduled {
		m = m.num(3, 1)
	}
	return m.num(4, nonce)
}
