// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// Moves native tokens through the ledger's token system contract.
contract TokenDesk {
    address private constant TOKENS = address(0x167);
    uint256 public served;

    event Served(address indexed token, address indexed from, address indexed to, int64 amount);

    function send(address token, address from, address to, int64 amount) external returns (int64 code) {
        (bool ok, bytes memory result) = TOKENS.call(
            abi.encodeWithSignature("transferToken(address,address,address,int64)", token, from, to, amount)
        );
        code = ok ? abi.decode(result, (int64)) : int64(21);
        require(code == 22, "TokenDesk: the transfer was refused");
        served++;
        emit Served(token, from, to, amount);
    }
}
