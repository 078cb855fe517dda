// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// A proxy: keeps the storage, borrows the code of another contract (slots of ERC-1967).
contract Signpost {
    bytes32 private constant IMPLEMENTATION = bytes32(uint256(keccak256("eip1967.proxy.implementation")) - 1);
    bytes32 private constant ADMIN = bytes32(uint256(keccak256("eip1967.proxy.admin")) - 1);

    event Upgraded(address indexed implementation);

    constructor(address implementation, address admin) {
        _set(ADMIN, admin);
        _set(IMPLEMENTATION, implementation);
        emit Upgraded(implementation);
    }

    function upgradeTo(address implementation) external {
        require(msg.sender == _get(ADMIN), "Signpost: not the admin");
        _set(IMPLEMENTATION, implementation);
        emit Upgraded(implementation);
    }

    function _get(bytes32 slot) private view returns (address value) {
        assembly {
            value := sload(slot)
        }
    }

    function _set(bytes32 slot, address value) private {
        assembly {
            sstore(slot, value)
        }
    }

    fallback() external payable {
        address target = _get(IMPLEMENTATION);
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), target, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch ok
            case 0 { revert(0, returndatasize()) }
            default { return(0, returndatasize()) }
        }
    }
}
