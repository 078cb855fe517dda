package world

import (
	"cmp"
	"fmt"

	"google.golang.org/protobuf/proto"

	"heliograph/internal/domain/fees"
	"heliograph/internal/domain/fees/feepb"
	"heliograph/internal/domain/ledger/codes"
)

// System files.
const (
	fileAddressBook101 = 101
	fileAddressBook102 = 102
	fileFeeSchedule    = 111
	fileExchangeRates  = 112
	fileSimpleFees     = 113
	fileProperties     = 121
	filePermissions    = 122
	fileThrottles      = 123
	fileUpgrade        = 150

	AddressBookAdmin  = 55
	feeScheduleAdmin  = 56
	ExchangeRateAdmin = 57
	freezeAdmin       = 58
)

// addFileData adds the row of file_data with the contents that file transaction t carries.
func (w *World) addFileData(t *Transaction, file int64, content []byte) {
	w.rows.add("file_data", Row{
		"file_data": content, "consensus_timestamp": t.ts, "entity_id": file,
		"transaction_type": int(t.kind),
	})
}

// CreateFile creates a file in a transaction that payer pays and returns its number. Each part after the first is
// appended in a transaction of its own. parts must not be empty.
func (w *World) CreateFile(payer int64, memo string, parts ...[]byte) int64 {
	id := w.takeID("file")
	t := w.tx(codes.TypeFileCreate, payer, id)
	w.newEntity("FILE", id, t.ts, Row{
		"memo": memo, "key": KeyList(Ed25519Key(keyHolder(payer))),
		"expiration_timestamp": t.ts + paidPeriods*RenewalPeriod*Second, "auto_renew_period": nil,
	})
	w.addFileData(t, id, parts[0])
	w.commit(t)
	for _, part := range parts[1:] {
		w.AppendFile(payer, id, part)
	}
	return id
}

// AppendFile adds a transaction, which payer pays, that appends part to a file. It does not check that the file
// exists.
func (w *World) AppendFile(payer, id int64, part []byte) {
	t := w.tx(codes.TypeFileAppend, payer, id)
	w.addFileData(t, id, part)
	w.commit(t)
}

// UpdateFile adds a transaction, which payer pays, that replaces the contents of a file and, if memo is not empty, its
// memo. Nil contents change the memo only: then the row of file_data has empty contents.
func (w *World) UpdateFile(payer, id int64, content []byte, memo string) {
	t := w.tx(codes.TypeFileUpdate, payer, id)
	if memo != "" {
		w.changeEntity(id, t.ts, Row{"memo": memo})
	}
	w.addFileData(t, id, present(content))
	w.commit(t)
}

// systemFile creates a system file in a transaction of account admin, without fee, and returns the transaction.
func (w *World) systemFile(id, admin int64, memo string, content []byte) *Transaction {
	t := w.tx(codes.TypeFileCreate, admin, 0)
	w.addSystemFile(t, id, admin, memo, content)
	return w.commit(t)
}

// addSystemFile adds the entity and contents of a system file in transaction t, and sets the fee of t to 0. It
// does not commit t.
func (w *World) addSystemFile(t *Transaction, id, admin int64, memo string, content []byte) {
	t.fee, t.entity = 0, id
	w.newEntity("FILE", id, t.ts, Row{
		"memo": memo, "key": KeyList(Ed25519Key(fmt.Sprintf("system %d", admin))),
		"auto_renew_period": nil,
	})
	w.addFileData(t, id, content)
}

// updateSystemFile replaces the contents of a system file: one update, then an append for each further piece, all
// without fee. It returns the update, or nil without pieces. Pieces of the fee schedule before the last one have the
// result FEE_SCHEDULE_FILE_PART_UPLOADED.
func (w *World) updateSystemFile(id, admin int64, pieces ...[]byte) (first *Transaction) {
	kind := codes.TypeFileUpdate
	for i, piece := range pieces {
		t := w.tx(kind, admin, id)
		t.fee = 0
		if id == fileFeeSchedule && i < len(pieces)-1 {
			t.result = codes.FeeScheduleFilePartUploaded
		}
		w.addFileData(t, id, piece)
		first = cmp.Or(first, w.commit(t))
		kind = codes.TypeFileAppend
	}
	return first
}

// createSystemFiles creates the system files. The fee schedules and the exchange rates exist before the first block,
// so that it has prices; there are no transactions of their creation. It also sets the gas price.
func (w *World) createSystemFiles() {
	genesis := &Transaction{ts: w.clock - Second + 1, kind: codes.TypeFileCreate}
	const gas = 780_000
	w.addSystemFile(genesis, fileFeeSchedule, feeScheduleAdmin, "fee schedule", w.feeFile(gas, genesis.ts))
	genesis.ts++
	w.addSystemFile(genesis, fileSimpleFees, feeScheduleAdmin, "simple fee schedule", w.simpleFees(gas))
	genesis.ts++
	w.addSystemFile(genesis, fileExchangeRates, ExchangeRateAdmin, "exchange rates", rateFile(0, genesis.ts))
	nodes := w.addressBookNodes(0)
	w.publishAddressBook(w.systemFile(fileAddressBook101, AddressBookAdmin, "address book", addressBookFile(nodes)),
		nodes)
	w.publishAddressBook(w.systemFile(fileAddressBook102, AddressBookAdmin, "node details", addressBookFile(nodes)),
		nodes)
	w.updateSystemFile(fileSimpleFees, feeScheduleAdmin, w.simpleFees(gas))
	w.systemFile(fileProperties, AddressBookAdmin, "network properties",
		[]byte("contracts.chainId=296\nledger.id=0x03\nstaking.periodMins=1440\n"))
	w.systemFile(filePermissions, AddressBookAdmin, "who may do what",
		[]byte("createAccount=0-*\ncryptoTransfer=0-*\nfreeze=58\n"))
	w.systemFile(fileThrottles, AddressBookAdmin, "throttles", throttleFile())
	w.systemFile(fileUpgrade, freezeAdmin, "software upgrade", []byte("lantern bay release 1\n"))
}

// gasPerTinybar is the price of gas in the fee schedule that equals a price of 1 tinybar, at all exchange rates.
// Prices of gas are multiples of it.
const gasPerTinybar = 12_000

// rateFile returns the protobuf message ExchangeRateSet for the hour of ts and the next one. The price of an hbar
// depends on the version. It is between 11.85 and 12 cents, so that the price of gas in tinybars depends on the
// fee schedule only: the rates of a transaction depend on the time of day.
func rateFile(version int, ts int64) []byte {
	price := func(v int) int64 { return 355_500 + int64(v*7%23)*180 }
	rate := func(v int, until int64) message {
		return message(nil).num(1, 30_000).num(2, price(v)).msg(3, message(nil).num(1, until/Second))
	}
	end := ts/Hour*Hour + Hour
	return message(nil).msg(1, rate(version, end)).msg(2, rate(version+1, end+Hour))
}

// feeFile returns the protobuf message CurrentAndNextFeeSchedule, whose current schedule expires 800 days after ts and
// whose next one 800 days later. It also sets w.gasPrice, the gas price of later contract calls. gas is in thousandths
// of tinycents, and the price of contract calls (6, 16), contract creations (7) and Ethereum transactions (84). Other
// prices are arbitrary.
func (w *World) feeFile(gas, ts int64) []byte {
	w.gasPrice = gas / gasPerTinybar
	schedule := func(gas, until int64) message {
		m := message{}
		for _, f := range []int64{
			1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 18, 23, 27, 30, 50, 51, 52, 53, 54, 56, 58,
			59, 60, 61, 62, 63, 64, 65,
			66, 67, 68, 69, 70, 71, 72, 73, 75, 77, 79, 80, 81, 82, 84, 86, 88, 92, 93, 94, 95,
		} {
			price := func(share int64) message {
				return message(nil).num(2, 1_000_000_000_000_000).num(3, 9_000_000+f*10_000*share).num(4,
					12*share).num(5, 3_000*share).num(6, share)
			}
			service := price(20)
			if f == 6 || f == 7 || f == 16 || f == 84 {
				service = service.num(8, gas)
			}
			data := message(nil).msg(1, price(1)).msg(2, price(9)).msg(3, service)
			m = m.msg(1, message(nil).num(1, f).msg(3, data))
		}
		return m.msg(2, message(nil).num(1, until/Second))
	}
	return message(nil).msg(1, schedule(gas, ts+800*Day)).msg(2, schedule(gas+72_000, ts+1_600*Day))
}

// throttleFile returns the protobuf message ThrottleDefinitions with one bucket, which permits 10,000 transactions of
// the functions 1 and 27 in a second.
func throttleFile() []byte {
	group := message(nil).num(1, 1).num(1, 27).num(2, 10_000_000)
	return message(nil).msg(1, message(nil).text(1, "everything").num(2, 1_000).msg(3, group))
}

// ChangeAddressBook updates file 0.0.102 with the given version of the address book, without fee, and makes it the
// current address book.
func (w *World) ChangeAddressBook(version int) {
	nodes := w.addressBookNodes(version)
	w.publishAddressBook(w.updateSystemFile(fileAddressBook102, AddressBookAdmin, addressBookFile(nodes)), nodes)
}

// ChangeFeeSchedules updates both fee schedule files, without fee: 0.0.111 in two transactions, an update and an
// append with half of the content each, and 0.0.113 in one. gas is the gas price of later contract calls in
// thousandths of tinycents. The schedules in 0.0.111 expire some time after w.clock, which each transaction moves
// forward.
func (w *World) ChangeFeeSchedules(gas int64) {
	file := w.feeFile(gas, w.clock)
	w.updateSystemFile(fileFeeSchedule, feeScheduleAdmin, file[:len(file)/2], file[len(file)/2:])
	w.updateSystemFile(fileSimpleFees, feeScheduleAdmin, w.simpleFees(gas))
}

// simpleFees returns the protobuf message FeeSchedule: the default schedule of new networks with another price of
// gas, in thousandths of tinycents. If it cannot be encoded, it calls [World.Fail].
func (w *World) simpleFees(gas int64) []byte {
	file, err := fees.DefaultFile()
	if err != nil {
		w.Fail("simple fee schedule: %w", err)
	}
	var schedule feepb.FeeSchedule
	if err := proto.Unmarshal(file, &schedule); err != nil {
		w.Fail("simple fee schedule: %w", err)
	}
	for _, e := range schedule.GetExtras() {
		if e.GetName() == feepb.Extra_GAS {
			e.Fee = gas / 1000
		}
	}
	file, err = proto.Marshal(&schedule)
	if err != nil {
		w.Fail("simple fee schedule: %w", err)
	}
	return file
}
