// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// A keeper's logbook, meant to be used through a proxy.
contract Logbook {
    uint256 public entries;
    mapping(uint256 => string) public entry;
    mapping(uint256 => address) public author;

    event Written(uint256 indexed number, address indexed author, string text);

    function write(string calldata text) external returns (uint256 number) {
        require(bytes(text).length > 0, "Logbook: empty entry");
        number = ++entries;
        entry[number] = text;
        author[number] = msg.sender;
        emit Written(number, msg.sender, text);
    }
}
