package scenario

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/ledger"
	"heliograph/storage/demo"
	"heliograph/storage/demo/world"
)

// story is the script of the scenario. Its first lines describe its lines, and the functions below the values in them.
//
//go:embed story.txt
var story string

// word matches a word of a line: text without blanks except in double quotes.
var word = regexp.MustCompile(`(?:[^\s"]|"(?:[^"\\]|\\.)*")+`)

// section returns the text of a section of the embedded script, or "" if it does not exist.
func section(name string) string {
	_, rest, _ := strings.Cut(story, "\n== "+name+"\n")
	text, _, _ := strings.Cut(rest, "\n== ")
	return strings.TrimSuffix(text, "\n")
}

// play runs lines of the script: it replaces their random values and calls a method for each line. A line that starts
// with # is a comment. Before each line it makes a pause; see [Scenario.pause]. Errors go to [world.World.Fail], and
// the next line follows.
func (w *Scenario) play(lines string) {
	for line := range strings.Lines(lines) {
		if words := word.FindAllString(w.expand(line), -1); len(words) > 0 && words[0] != "#" {
			w.pause(line)
			w.call(words)
		}
	}
}

// pause moves the clock forward by up to 85 seconds, which depend on the text of what follows. In the last two hours it
// does nothing: then blocks follow each other.
func (w *Scenario) pause(before string) {
	if w.End()-w.Now() > 2*world.Hour {
		w.AdvanceTo(w.Now() + int64(world.Digest(before)[0])*world.Second/3)
	}
}

// Lines of which playOne runs one.
var (
	everyday      = weighted("everyday")
	ordinary      = weighted("ordinary")
	contractCalls = weighted("contract calls")
	emitLog       = weighted("logs")
)

// weighted returns the lines of a section of the script, each as often as the number at its beginning says, for
// [Scenario.playOne].
func weighted(name string) (lines []string) {
	for line := range strings.Lines(section(name)) {
		digits, rest, _ := strings.Cut(line, " ")
		weight, _ := strconv.Atoi(digits) // a line without a weight never runs
		lines = append(lines, slices.Repeat([]string{rest}, weight)...)
	}
	return lines
}

// playOne runs one of several lines, which it picks at random. It panics if there are none.
func (w *Scenario) playOne(lines []string) { w.play(lines[w.Pick(int64(len(lines)))]) }

// random matches a random value in a line that contains no others.
var random = regexp.MustCompile(`<[^<>]+>`)

// expand returns the line with its random values replaced by those of [Scenario.choose], from left to right,
// including those that a replacement contains. It advances the random numbers of the scenario.
func (w *Scenario) expand(line string) string {
	for at := random.FindStringIndex(line); at != nil; at = random.FindStringIndex(line) {
		line = line[:at[0]] + w.choose(line[at[0]+1:at[1]-1]) + line[at[1]:]
	}
	return line
}

// choose returns a random value: one of A|B|C, one of the numbers from A..B without B, a member of a list, two
// different members of it as "2 LIST", or a line of a section. Texts are escaped for double quotes, which the line has
// around them. An unknown name of a section gives an empty text, and "2 LIST" panics if the list has fewer than two.
func (w *Scenario) choose(text string) string {
	if low, high, isRange := strings.Cut(text, ".."); isRange {
		return strconv.FormatInt(w.number(low)+w.Pick(w.number(high)-w.number(low)), 10)
	}
	if name, two := strings.CutPrefix(text, "2 "); two {
		return fmt.Sprint(w.pickTwo(w.members(name)))
	}
	if list := w.members(text); list != nil {
		return strconv.FormatInt(list[w.Pick(int64(len(list)))], 10)
	}
	options := strings.Split(text, "|")
	if len(options) == 1 {
		options = strings.Split(section(text), "\n")
	}
	quoted := strconv.Quote(options[w.Pick(int64(len(options)))])
	return quoted[1 : len(quoted)-1]
}

// members returns the residents, or the accounts that hold the token with the given name, or nil for other names.
func (w *Scenario) members(list string) []int64 {
	if list == "residents" {
		return w.residents
	}
	return w.holders[demo.Numbers[list]]
}

// call calls the method that the first word names with the values of the other words, by reflection. After "->", a
// name for the result follows, which later lines can use. If package demo declares a number for the name, the result
// must be that. Errors go to [world.World.Fail]; with too few words, or without such a method, nothing is called.
// Further words are ignored. It panics if a name follows "->" but the method returns nothing.
func (w *Scenario) call(words []string) {
	name, args, result := words[0], words[1:], ""
	if n := len(args); n > 1 && args[n-2] == "->" {
		args, result = args[:n-2], args[n-1]
	}
	method := reflect.ValueOf(w).MethodByName(name)
	if !method.IsValid() {
		w.Fail("the method %s does not exist", name)
		return
	}
	t := method.Type()
	in := make([]reflect.Value, t.NumIn())
	for i := range in {
		in[i] = reflect.New(t.In(i)).Elem()
		set, count := w.set, 1
		switch {
		case t.In(i) == reflect.TypeFor[world.Row]():
			in[i].Set(reflect.MakeMap(t.In(i)))
			set, count = w.assign, len(args)
		case t.In(i).Kind() == reflect.Struct:
			set, count = w.assign, len(args)
		case t.IsVariadic() && i == len(in)-1:
			count = len(args)
		case len(args) == 0:
			w.Fail("%s needs more arguments", name)
			return
		}
		for _, text := range args[:count] {
			set(in[i], text)
		}
		args = args[count:]
	}
	call := method.Call
	if t.IsVariadic() {
		call = method.CallSlice
	}
	out := call(in)
	if want, known := demo.Numbers[result]; known && out[0].Int() != want {
		w.Fail("%s should have the number %d, not %d", result, want, out[0].Int())
	} else if result != "" {
		w.results[result] = out[0].Int()
	}
}

// assign sets a column of a row or a field of a struct by a word NAME=VALUE. NAME can be a path, such as Call.Gas.
// Without a value, a field is set to true. A value of a list of arguments is appended in the type that the contract's
// method has: the words for Source and Method stand before it. Errors go to [world.World.Fail].
func (w *Scenario) assign(v reflect.Value, word string) {
	path, text, given := strings.Cut(word, "=")
	if row, ok := v.Interface().(world.Row); ok {
		row[path] = w.column(text)
		return
	}
	if !given {
		text = "true"
	}
	of := v
	for name := range strings.SplitSeq(path, ".") {
		if of = v; of.Kind() == reflect.Pointer {
			if of.IsNil() {
				of.Set(reflect.New(of.Type().Elem()))
			}
			of = of.Elem()
		}
		if v = of.FieldByName(name); !v.IsValid() {
			w.Fail("the field %s does not exist", path)
			return
		}
	}
	args, ok := v.Addr().Interface().(*[]any)
	if !ok {
		w.set(v, text)
		return
	}
	source, method := of.FieldByName("Source"), of.FieldByName("Method") // a deployment has no method
	if !method.IsValid() {
		method = reflect.ValueOf("")
	}
	arg := reflect.New(w.ArgumentType(source.String(), method.String(), len(*args))).Elem()
	w.set(arg, text)
	*args = append(*args, arg.Interface())
}

// set sets a variable to the value of a text, or appends the value to a list. The type of the variable determines the
// form of the text, which may be quoted. The text null leaves the variable as it is. Errors go to [world.World.Fail].
func (w *Scenario) set(v reflect.Value, text string) {
	if text == "null" {
		return
	}
	if unquoted, err := strconv.Unquote(text); err == nil {
		text = unquoted
	}
	var err error
	switch at := v.Addr().Interface().(type) {
	case *[]byte:
		*at = w.bytes(text)
	case *common.Address:
		*at = w.Address(w.number(text))
	case **big.Int:
		var ok bool
		if *at, ok = new(big.Int).SetString(text, 0); !ok {
			*at = big.NewInt(w.number(text))
		}
	case *world.HookSlot: // KEY=VALUE, of which both are numbers, or the key is a text to hash
		key, value, _ := strings.Cut(text, "=")
		at.Key = world.Digest(key)[:32]
		if n, ok := w.parse(key); ok {
			at.Key = world.Word(n)
		}
		if value != "" {
			at.Value = world.Word(w.number(value))
		}
	case *world.FixedFee, *world.FractionalFee, *world.RoyaltyFee, *world.Endpoint:
		// JSON, in which $NAME is the number of an entity
		err = json.Unmarshal([]byte(os.Expand(text, func(name string) string {
			return strconv.FormatInt(w.number(name), 10)
		})), at)
	case *ledger.TransactionType:
		*at, err = ledger.ParseTransactionType(text)
	default:
		w.setBasic(v, text)
	}
	if err != nil {
		w.Fail("%s: %w", text, err)
	}
}

// setBasic sets a value from the text of the script. A slice gets one more item, and a pointer a new value. A number
// is that of [Scenario.number], which fails the scenario for other text.
func (w *Scenario) setBasic(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(text == "true")
	case reflect.Uint64:
		v.SetUint(uint64(w.number(text)))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		w.set(v.Elem(), text)
	case reflect.Slice:
		item := reflect.New(v.Type().Elem()).Elem()
		w.set(item, text)
		v.Set(reflect.Append(v, item))
	case reflect.Array:
		reflect.Copy(v, reflect.ValueOf([]byte(text)))
	default:
		v.SetInt(w.number(text))
	}
}

// column returns the value of a column: null, a number, a list of numbers, a boolean, bytes or a text. A text that
// could be one of the others is in quotes, but bytes are recognized in quotes too; see [Scenario.bytes].
func (w *Scenario) column(text string) any {
	unquoted, err := strconv.Unquote(text)
	if err != nil {
		unquoted = text
		var list []int64
		if json.Unmarshal([]byte(text), &list) == nil && list != nil {
			return list
		}
		if n, ok := w.parse(text); ok {
			return n
		}
	}
	switch b := w.bytes(unquoted); {
	case string(b) != unquoted || strings.HasPrefix(unquoted, "text:"):
		return b
	case text == "null":
		return nil
	case text == "true", text == "false":
		return text == "true"
	}
	return unquoted
}

// bytes returns the bytes of a text such as "ed25519:Alice": a key, an address or a hash by its prefix. Without a
// known prefix it returns the text itself.
func (w *Scenario) bytes(text string) []byte {
	switch kind, of, _ := strings.Cut(text, ":"); kind {
	case "ed25519":
		return world.Ed25519Key(of)
	case "secp256k1":
		return world.ECDSAKey(of)
	case "address":
		return world.EVMAddress(of)
	case "contract":
		return world.ContractKey(w.number(of))
	case "delegatable":
		return world.DelegatableKey(w.number(of))
	case "list", "1-of", "2-of":
		var keys [][]byte
		for k := range strings.FieldsFuncSeq(of, func(r rune) bool { return r == '+' }) {
			keys = append(keys, w.bytes(k))
		}
		if kind != "list" {
			return world.ThresholdKey(int64(kind[0]-'0'), keys...)
		}
		return world.KeyList(keys...)
	case "digest":
		return world.Digest(of)
	case "text":
		return []byte(of)
	}
	return []byte(text)
}

// number returns a number, the number of an entity by its name, or an amount with a unit: ħ for hbars, or d, h, m or s
// for durations, in tinybars and nanoseconds. A leading + adds the duration to the current time. Other text fails the
// scenario, and the result is not valid.
func (w *Scenario) number(text string) int64 {
	n, ok := w.parse(text)
	if !ok {
		w.Fail("%q is not a number", text)
	}
	return n
}

// parse returns the number that a text stands for, as [Scenario.number] does, and false for other text. It changes
// nothing.
func (w *Scenario) parse(text string) (n int64, ok bool) {
	for _, names := range []map[string]int64{w.results, demo.Numbers} {
		if n, ok = names[text]; ok {
			return n, true
		}
	}
	text, relative := strings.CutPrefix(text, "+")
	digits := strings.TrimRight(text, "ħdhms")
	unit, ok := map[string]int64{
		"": 1, "ħ": world.Hbar, "d": world.Day, "h": world.Hour, "m": world.Minute,
		"s": world.Second,
	}[text[len(digits):]]
	n, err := strconv.ParseInt(digits, 0, 64)
	if n *= unit; relative {
		n += w.Now()
	}
	return n, ok && err == nil
}
