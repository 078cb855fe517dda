// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

abstract contract Yard {
    address internal keeper;
    uint64 internal gates;
}

/// Keeps things in every layout that storage has, so that what lies in a slot can be computed by hand.
contract Storehouse is Yard {
    enum Fill {
        Empty,
        Half,
        Full
    }

    struct Crate {
        uint128 weight;
        uint64 number;
        bool fragile;
        Fill fill;
        bytes4 mark;
    }

    struct Shelf {
        string label;
        Crate[2] crates;
        mapping(address => uint256) items;
    }

    uint256 public constant FLOORS = 3;
    uint256 public immutable built;

    uint8 public rooms; // in the slot of what it inherits, behind the address and the gates
    int16 public depth;
    Fill public fill;
    uint256 public area;
    bool[] private flags;
    uint24[5] private steps;
    uint64[] private loads;
    int256[][] private ledger;
    string public name;
    bytes public plan;
    mapping(uint256 => mapping(address => Crate)) private owned;
    mapping(string => uint256) public prices;
    mapping(uint8 => uint256[]) private queues;
    Shelf private shelf;
    uint256[4] private __reserve;
    bytes32 public last;

    constructor(uint256 built_, address keeper_) {
        built = built_;
        (keeper, gates, rooms, depth, fill) = (keeper_, 2, 12, -7, Fill.Half);
        area = 1 ether;
        for (uint256 i = 0; i < 34; i++) flags.push(i % 3 == 0);
        for (uint24 i = 0; i < 5; i++) steps[i] = 100 * (i + 1);
        for (uint64 i = 1; i <= 5; i++) loads.push(i * 1000);
        ledger.push([int256(1), -2]);
        ledger.push([int256(-3), 4]);
        name = "Storehouse at the quay";
        plan = hex"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff0011223344";
        owned[5][keeper_] = Crate(250, 17, true, Fill.Full, "oats");
        prices["barley"] = 42;
        queues[9].push(77);
        shelf.label = "upper";
        shelf.crates[1] = Crate(8, 2, false, Fill.Empty, "nets");
        shelf.items[keeper_] = 6;
        last = bytes32(type(uint256).max);
    }

    /// Moves everything to somewhere else: no value is what it was.
    function rearrange(address keeper_) external {
        (keeper, gates, rooms, depth, fill) = (keeper_, 3, 14, 9, Fill.Full);
        area = 2 ether;
        flags.pop();
        steps[4] = 7;
        loads.push(6000);
        ledger[1].push(5);
        name = "Storehouse at the quay, rebuilt after the fire of last winter";
        plan = hex"c0ffee";
        delete owned[5][msg.sender];
        owned[5][keeper_] = Crate(251, 18, false, Fill.Half, "salt");
        prices["barley"] = 0;
        prices["rye"] = 43;
        queues[9].push(78);
        shelf.label = "a label that is too long to fit into the slot itself";
        shelf.items[keeper_]++;
        last = 0;
    }

    /// What lies in a slot.
    function at(uint256 slot) external view returns (bytes32 value) {
        assembly {
            value := sload(slot)
        }
    }

    function yard() external view returns (address, uint64) {
        return (keeper, gates);
    }

    function flag(uint256 i) external view returns (bool) {
        return flags[i];
    }

    function counts() external view returns (uint256, uint256, uint256) {
        return (flags.length, loads.length, ledger.length);
    }

    function step(uint256 i) external view returns (uint24) {
        return steps[i];
    }

    function load(uint256 i) external view returns (uint64) {
        return loads[i];
    }

    function entries(uint256 i) external view returns (int256[] memory) {
        return ledger[i];
    }

    function crate(uint256 floor, address owner) external view returns (Crate memory) {
        return owned[floor][owner];
    }

    function queue(uint8 number) external view returns (uint256[] memory) {
        return queues[number];
    }

    function shelves(address owner) external view returns (string memory, Crate memory, uint256) {
        return (shelf.label, shelf.crates[1], shelf.items[owner]);
    }
}
