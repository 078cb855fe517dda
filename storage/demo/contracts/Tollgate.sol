// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// An allowance hook: lets small payments pass and counts them.
contract Tollgate {
    uint256 public limit;
    uint256 public passed;

    constructor(uint256 limit_) {
        limit = limit_;
    }

    function allow(uint256 amount) external returns (bool) {
        require(amount <= limit, "Tollgate: too much for this gate");
        passed++;
        return true;
    }

    function pay(address payable to) external payable {
        require(msg.value > 0, "Tollgate: nothing to pay");
        (bool ok, ) = to.call{value: msg.value}("");
        require(ok, "Tollgate: payment refused");
        passed++;
    }
}
