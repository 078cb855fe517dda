// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// Burns gas, in every way that costs some.
contract Furnace {
    uint256 public heat;
    mapping(uint256 => uint256) public coal;

    /// Hashes a hash again and again, beginning with zero.
    function hashes(uint256 rounds) external pure returns (bytes32 h) {
        for (uint256 i = 0; i < rounds; i++) h = keccak256(abi.encode(h));
    }

    function counts(uint256 rounds) external pure returns (uint256 n) {
        unchecked {
            while (n < rounds) n++;
        }
    }

    /// Fills slots that were empty; each costs as much as storage does.
    function stokes(uint256 slots) external returns (uint256) {
        uint256 first = heat;
        for (uint256 i = 0; i < slots; i++) coal[first + i] = first + i + 1;
        heat = first + slots;
        return heat;
    }

    /// Empties slots, which gives some of their gas back.
    function rakes(uint256 slots) external returns (uint256) {
        uint256 last = heat;
        for (uint256 i = 0; i < slots; i++) delete coal[last - i - 1];
        heat = last - slots;
        return heat;
    }

    function stretches(uint256 words) external pure returns (uint256) {
        return new bytes(words * 32).length;
    }

    /// Wants gas that it does not use.
    function hoards(uint256 need) external view returns (bool) {
        require(gasleft() >= need, "Furnace: there is not enough gas");
        return true;
    }

    /// Calls itself, and tells how deep it came.
    function dives(uint256 depth) external view returns (uint256) {
        if (depth == 0) return 0;
        return this.dives(depth - 1) + 1;
    }

    function never() external pure {
        while (true) {}
    }
}
