package evm

// Journal remembers how to undo what a simulation changed, so that a frame that fails leaves nothing behind. Whoever keeps data of its own
// beside the state, such as the overlay of a system contract, registers an undo function for every change that it makes.
type Journal struct {
	undos []func()
}

// Append registers what undoes the change that is being made.
func (j *Journal) Append(undo func()) { j.undos = append(j.undos, undo) }

// len is the mark to which revert goes back.
func (j *Journal) len() int { return len(j.undos) }

// revert undoes everything since a mark, the newest change first.
func (j *Journal) revert(to int) {
	for i := len(j.undos) - 1; i >= to; i-- {
		j.undos[i]()
	}
	clear(j.undos[to:])
	j.undos = j.undos[:to]
}

// set changes a value and registers its old one.
func set[T any](j *Journal, at *T, value T) {
	old := *at
	j.Append(func() { *at = old })
	*at = value
}

// setKey changes a value of a map and registers the old one.
func setKey[K comparable, V any](j *Journal, m map[K]V, key K, value V) {
	old, had := m[key]
	j.Append(func() {
		if had {
			m[key] = old
		} else {
			delete(m, key)
		}
	})
	m[key] = value
}
