// Package scenario is what happens in the demo network: the accounts, what they do, and when.
package scenario

import (
	"math/rand/v2"

	"heliograph/storage/demo"
	"heliograph/storage/demo/world"
)

// Scenario is the demo network with the accounts that have no constants.
type Scenario struct {
	*world.World
	residents   []int64
	names       map[int64]string  // of residents
	holders     map[int64][]int64 // of fungible tokens
	coinHolders []int64           // holders of Harbour Coin, the contract
	due         []int64           // times of everyday transactions to come
	yearRand    *rand.Rand
	results     map[string]int64 // by their names in the story
}

// New runs the scenario. Its last transaction is at the given consensus time.
func New(end int64) (*Scenario, error) {
	l, err := world.New(end)
	if err != nil {
		return nil, err
	}
	w := &Scenario{World: l, names: map[int64]string{}, holders: map[int64][]int64{}, results: map[string]int64{}}
	w.planYear()
	w.play("history")
	w.lastTenMinutes()
	w.Finish()
	if err := w.Err(); err != nil {
		return nil, err
	}
	return w, nil
}

// Continue adds a live block that ends at a consensus time. It contains at least a payment, a contract call with logs and a message.
func (w *Scenario) Continue(end int64) {
	w.AddBlock(end, func() {
		w.grant()
		w.payAnyone()
		w.emitLog()
		for range w.Pick(3) {
			w.addEverydayEvent()
		}
	}, func() {
		w.SubmitText(demo.KeepersChat, []int64{demo.Walter, demo.Alice, demo.Bob, demo.Heidi, demo.Erin, demo.Frank}[w.Pick(6)], chat[w.Pick(int64(len(chat)))])
	})
}
