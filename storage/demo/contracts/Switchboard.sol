// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

interface IRates {
    function tinycentsToTinybars(uint256 tinycents) external returns (uint256);

    function tinybarsToTinycents(uint256 tinybars) external returns (uint256);
}

interface ISeed {
    function getPseudorandomSeed() external returns (bytes32);
}

interface ITokens {
    function isToken(address token) external returns (int64 code, bool is_);

    function getTokenType(address token) external returns (int64 code, int32 type_);

    function transferToken(address token, address from, address to, int64 amount) external returns (int64 code);

    function associateToken(address account, address token) external returns (int64 code);
}

interface IERC20 {
    function name() external view returns (string memory);

    function totalSupply() external view returns (uint256);

    function balanceOf(address owner) external view returns (uint256);

    function transfer(address to, uint256 amount) external returns (bool);
}

interface IERC721 {
    function ownerOf(uint256 serial) external view returns (address);

    function tokenURI(uint256 serial) external view returns (string memory);
}

interface IAccounts {
    function hbarAllowance(address owner, address spender) external returns (int64 code, int256 amount);

    function getEvmAddressAlias(address account) external returns (int64 code, address alias_);

    function getHederaAccountNumAlias(address alias_) external returns (int64 code, address account);

    function isValidAlias(address account) external returns (bool);
}

/// Calls everything that is not a contract of its own: the machine's precompiled contracts and the network's own.
contract Switchboard {
    IRates private constant RATES = IRates(address(0x168));
    ISeed private constant SEED = ISeed(address(0x169));
    ITokens private constant TOKENS = ITokens(address(0x167));
    IAccounts private constant ACCOUNTS = IAccounts(address(0x16a));

    error Refused(int64 code);

    function toTinybars(uint256 tinycents) external returns (uint256) {
        return RATES.tinycentsToTinybars(tinycents);
    }

    function toTinycents(uint256 tinybars) external returns (uint256) {
        return RATES.tinybarsToTinycents(tinybars);
    }

    function seed() external returns (bytes32) {
        return SEED.getPseudorandomSeed();
    }

    function kindOf(address at) external returns (bool is_, int32 type_) {
        (, is_) = TOKENS.isToken(at);
        if (is_) (, type_) = TOKENS.getTokenType(at);
    }

    function token(address at) external view returns (string memory, uint256) {
        return (IERC20(at).name(), IERC20(at).totalSupply());
    }

    function balance(address at, address owner) external view returns (uint256) {
        return IERC20(at).balanceOf(owner);
    }

    function serial(address at, uint256 number) external view returns (address, string memory) {
        return (IERC721(at).ownerOf(number), IERC721(at).tokenURI(number));
    }

    /// Moves units and fails with the response code when they do not.
    function move(address at, address from, address to, int64 amount) external returns (uint256, uint256) {
        int64 code = TOKENS.transferToken(at, from, to, amount);
        if (code != 22) revert Refused(code);
        return (IERC20(at).balanceOf(from), IERC20(at).balanceOf(to));
    }

    /// Moves units in a call that is undone.
    function moveInVain(address at, address from, address to, int64 amount) external returns (uint256 before_, uint256 afterwards) {
        before_ = IERC20(at).balanceOf(to);
        try this.moveAndFail(at, from, to, amount) {} catch Error(string memory) {
            afterwards = IERC20(at).balanceOf(to);
        }
    }

    function moveAndFail(address at, address from, address to, int64 amount) external {
        int64 code = TOKENS.transferToken(at, from, to, amount);
        if (code != 22) revert Refused(code);
        revert("Switchboard: changed its mind");
    }

    function associate(address at) external returns (int64 first, int64 second) {
        first = TOKENS.associateToken(address(this), at);
        second = TOKENS.associateToken(address(this), at);
    }

    function allowance(address owner, address spender) external returns (int64, int256) {
        return ACCOUNTS.hbarAllowance(owner, spender);
    }

    function addresses(address account) external returns (bool valid, int64 code, address alias_, address number) {
        valid = ACCOUNTS.isValidAlias(account);
        (code, alias_) = ACCOUNTS.getEvmAddressAlias(account);
        (, number) = ACCOUNTS.getHederaAccountNumAlias(alias_);
    }

    /// Asks what a schedule would create; tells the code it fails with.
    function scheduled(address schedule) external returns (bool ok, uint256 code) {
        bytes memory data;
        (ok, data) = address(0x16b).call(abi.encodeWithSignature("getScheduledCreateFungibleTokenInfo(address)", schedule));
        if (!ok && data.length == 32) code = abi.decode(data, (uint256));
    }

    function recover(bytes32 hash, uint8 v, bytes32 r, bytes32 s) external pure returns (address) {
        return ecrecover(hash, v, r, s);
    }

    function digests(bytes calldata data) external pure returns (bytes32, bytes20) {
        return (sha256(data), ripemd160(data));
    }

    function copy(bytes calldata data) external view returns (bytes memory) {
        return ask(4, data);
    }

    function power(uint256 base, uint256 exponent, uint256 modulus) external view returns (uint256) {
        return abi.decode(ask(5, abi.encode(32, 32, 32, base, exponent, modulus)), (uint256));
    }

    function addPoints(uint256 x1, uint256 y1, uint256 x2, uint256 y2) external view returns (uint256, uint256) {
        return abi.decode(ask(6, abi.encode(x1, y1, x2, y2)), (uint256, uint256));
    }

    function multiply(uint256 x, uint256 y, uint256 factor) external view returns (uint256, uint256) {
        return abi.decode(ask(7, abi.encode(x, y, factor)), (uint256, uint256));
    }

    function pairs(bytes calldata points) external view returns (bool) {
        return abi.decode(ask(8, points), (bool));
    }

    function compress(uint32 rounds, bytes calldata rest) external view returns (bytes memory) {
        return ask(9, bytes.concat(bytes4(rounds), rest));
    }

    function ask(uint160 number, bytes memory input) private view returns (bytes memory output) {
        bool ok;
        (ok, output) = address(number).staticcall(input);
        require(ok, "Switchboard: it does not answer");
    }

    function here() external view returns (uint256 number, uint256 time, uint256 chain, bytes32 mixed, address beneficiary, uint256 limit, uint256 fee) {
        return (block.number, block.timestamp, block.chainid, bytes32(block.prevrandao), block.coinbase, block.gaslimit, block.basefee);
    }

    function hashOf(uint256 number) external view returns (bytes32) {
        return blockhash(number);
    }

    function people(address who) external view returns (address, address, uint256, bytes32, uint256) {
        return (msg.sender, tx.origin, who.balance, who.codehash, who.code.length);
    }
}
