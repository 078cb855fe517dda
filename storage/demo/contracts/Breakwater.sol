// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// Turns every wave back: a function for each way in which a call can fail.
contract Breakwater {
    enum Wind {
        Calm,
        Breeze,
        Gale
    }

    error Closed();
    error TooHigh(uint256 limit, uint256 wave);
    error Damaged(string part, bytes mark, uint256[] stones);

    uint256 public waves;
    uint256[] private stones;
    bytes private chart;
    function(uint256) internal pure returns (uint256) private unset;

    function withNothing() external pure {
        revert();
    }

    function withText(string calldata text) external pure {
        revert(text);
    }

    function withRequire(uint256 wave) external pure returns (uint256) {
        require(wave < 10, "Breakwater: the wave is too high");
        return wave * 2;
    }

    function withBareRequire(bool calm) external pure returns (bool) {
        require(calm);
        return calm;
    }

    function withError() external pure {
        revert Closed();
    }

    function withRequiredError(bool open) external pure returns (bool) {
        require(open, Closed());
        return open;
    }

    function withArguments(uint256 wave) external pure {
        revert TooHigh(10, wave);
    }

    function withLists() external pure {
        uint256[] memory loose = new uint256[](2);
        (loose[0], loose[1]) = (7, 9);
        revert Damaged("head", hex"c0ffee", loose);
    }

    /// Reverts with exactly these bytes.
    function withData(bytes calldata data) external pure {
        assembly {
            calldatacopy(0, data.offset, data.length)
            revert(0, data.length)
        }
    }

    function asserts(bool calm) external pure returns (bool) {
        assert(calm);
        return calm;
    }

    function adds(uint256 a, uint256 b) external pure returns (uint256) {
        return a + b;
    }

    function divides(uint256 a, uint256 b) external pure returns (uint256) {
        return a / b;
    }

    function names(uint8 wind) external pure returns (Wind) {
        return Wind(wind);
    }

    function pops() external returns (uint256) {
        stones.pop();
        return stones.length;
    }

    function picks(uint256 i) external view returns (uint256) {
        return stones[i];
    }

    function allocates(uint256 n) external pure returns (uint256) {
        return new uint256[](n).length;
    }

    function callsNothing(uint256 wave) external view returns (uint256) {
        return unset(wave);
    }

    /// Reads bytes whose length and place in storage contradict each other.
    function readsNonsense() external returns (bytes memory) {
        assembly {
            sstore(chart.slot, 1)
        }
        return chart;
    }

    function runsAground() external pure {
        assembly {
            invalid()
        }
    }

    function hit() external returns (uint256) {
        return ++waves;
    }

    /// Hits in a call that may not change anything; tells whether that went well.
    function hitsStatically() external view returns (bool ok, bytes memory result) {
        (ok, result) = address(this).staticcall{gas: 50_000}(abi.encodeCall(this.hit, ()));
    }

    /// Hits, and undoes it: tells what was counted inside and afterwards.
    function hitsInVain() external returns (uint256 inside, uint256 afterwards) {
        try this.hitAndTell() {
            assert(false);
        } catch (bytes memory data) {
            inside = abi.decode(data, (uint256));
        }
        afterwards = waves;
    }

    function hitAndTell() external {
        uint256 n = ++waves;
        assembly {
            mstore(0, n)
            revert(0, 32)
        }
    }

    /// Calls itself and hands on whatever comes back.
    function passesOn(bytes calldata input) external returns (bytes memory) {
        (bool ok, bytes memory data) = address(this).call(input);
        if (!ok) {
            assembly {
                revert(add(data, 32), mload(data))
            }
        }
        return data;
    }

    /// Calls itself and tells what kind of failure it caught: 0 none, 1 a text, 2 a panic, 3 something else.
    function catches(uint256 a, uint256 b, bool text) external view returns (uint256 kind, string memory reason, uint256 code) {
        if (text) {
            try this.withRequire(a) returns (uint256) {
                return (0, "", 0);
            } catch Error(string memory why) {
                return (1, why, 0);
            }
        }
        try this.divides(a, b) returns (uint256 result) {
            return (0, "", result);
        } catch Panic(uint256 why) {
            return (2, "", why);
        } catch {
            return (3, "", 0);
        }
    }
}

/// Cannot be launched: its constructor always fails, with a text.
contract Wreck {
    constructor(uint256 depth) {
        require(depth == 0, "Wreck: it lies too deep");
        revert Breakwater.Closed();
    }
}
