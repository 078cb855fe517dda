package system

// scheduleFunctions are the functions of the schedule service.
func scheduleFunctions() []*function {
	out := absent(nil, []string{
		"authorizeSchedule(address)", "signSchedule(address,bytes)", "scheduleNative(address,bytes,address)",
		"scheduleCall(address,uint256,uint256,uint64,bytes)", "scheduleCallWithPayer(address,address,uint256,uint256,uint64,bytes)",
		"executeCallOnPayerSignature(address,address,uint256,uint256,uint64,bytes)", "deleteSchedule(address)",
	})
	for _, signature := range []string{
		"getScheduledCreateFungibleTokenInfo(address)", "getScheduledCreateNonFungibleTokenInfo(address)", "hasScheduleCapacity(uint256,uint256)",
	} {
		out = append(out, &function{signature: signature, kind: missing})
	}
	return out
}

// scheduleFacade are the functions of a schedule's address.
func scheduleFacade() []*function {
	return absent(nil, []string{"signSchedule()", "deleteSchedule()"})
}
