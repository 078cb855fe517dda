// Package status has the rules of status pages: what their rows are, how a page as a whole is, which steps notices may take, and what holds a
// component in a state. It knows neither databases nor clocks, and everything in it is a function of what it is given.
//
// Notices are incidents and maintenances. Codes are the ids by which documents and URLs name things.
package status
