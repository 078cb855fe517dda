// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// A boat that keeps its own position.
contract Boat {
    string public name;
    address public builder;
    int32 public latitude;
    int32 public longitude;

    event Moved(int32 latitude, int32 longitude);

    constructor(string memory name_) {
        name = name_;
        builder = msg.sender;
    }

    function sail(int32 lat, int32 lon) external {
        latitude = lat;
        longitude = lon;
        emit Moved(lat, lon);
    }
}

/// Builds boats, with an address from its nonce or with one that is known beforehand.
contract Shipyard {
    Boat[] public boats;

    event Launched(address indexed boat, string name);

    function launch(string calldata name) external returns (address) {
        Boat boat = new Boat(name);
        return _register(boat, name);
    }

    function launchAt(string calldata name, bytes32 salt) external returns (address) {
        Boat boat = new Boat{salt: salt}(name);
        return _register(boat, name);
    }

    /// Sends every boat to the same place.
    function fleetTo(int32 lat, int32 lon) external {
        for (uint256 i = 0; i < boats.length; i++) boats[i].sail(lat, lon);
    }

    function _register(Boat boat, string calldata name) private returns (address) {
        boats.push(boat);
        emit Launched(address(boat), name);
        return address(boat);
    }
}
