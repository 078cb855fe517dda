// Package codes has the response codes and the transaction types of the network as constants.
package codes
