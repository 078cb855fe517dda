// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// Counts tide readings. Its storage shows every layout the language has:
/// whole words, packed words, short and long strings, arrays and mappings.
contract TideGauge {
    struct Reading {
        int64 millimetres;
        uint64 number;
        address reporter;
    }

    uint256 public count;
    int64 public highest;
    int64 public lowest;
    bool public open = true;
    string public place;
    Reading[] public readings;
    mapping(address => uint256) public reportsOf;

    event TideRead(address indexed reporter, uint256 indexed number, int64 millimetres);
    event Renamed(string place);

    constructor(string memory place_) {
        place = place_;
    }

    function report(int64 millimetres) external returns (uint256 number) {
        require(open, "TideGauge: closed");
        require(millimetres > -10000 && millimetres < 10000, "TideGauge: implausible reading");
        number = ++count;
        if (millimetres > highest) highest = millimetres;
        if (millimetres < lowest) lowest = millimetres;
        readings.push(Reading(millimetres, uint64(number), msg.sender));
        reportsOf[msg.sender]++;
        emit TideRead(msg.sender, number, millimetres);
    }

    function rename(string calldata place_) external {
        place = place_;
        emit Renamed(place_);
    }

    function setOpen(bool value) external {
        open = value;
    }

    function average() external view returns (int256 sum) {
        uint256 n = readings.length;
        require(n > 0, "TideGauge: nothing read yet");
        for (uint256 i = 0; i < n; i++) sum += readings[i].millimetres;
        sum /= int256(n);
    }

    /// A digest of the last reading, made with the SHA-256 precompile.
    function seal() external view returns (bytes32) {
        return sha256(abi.encode(count, highest, lowest));
    }

    receive() external payable {}
}
