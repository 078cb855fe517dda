// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// Season tickets for the pier: a small non-fungible token with one minter.
contract PierPass {
    string public constant name = "Pier Pass";
    string public constant symbol = "PIER";
    address public minter;
    uint256 public lastId;
    mapping(uint256 => address) private owners;
    mapping(address => uint256) public balanceOf;
    mapping(uint256 => address) public getApproved;

    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);
    event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId);

    constructor(address minter_) {
        minter = minter_;
    }

    function ownerOf(uint256 id) public view returns (address owner) {
        owner = owners[id];
        require(owner != address(0), "PierPass: no such pass");
    }

    function mint(address to) external returns (uint256 id) {
        require(msg.sender == minter, "PierPass: only the harbour office mints");
        id = ++lastId;
        owners[id] = to;
        balanceOf[to]++;
        emit Transfer(address(0), to, id);
    }

    function approve(address spender, uint256 id) external {
        require(ownerOf(id) == msg.sender, "PierPass: not yours");
        getApproved[id] = spender;
        emit Approval(msg.sender, spender, id);
    }

    function transferFrom(address from, address to, uint256 id) external {
        require(ownerOf(id) == from, "PierPass: wrong owner");
        require(msg.sender == from || msg.sender == getApproved[id], "PierPass: not allowed");
        delete getApproved[id];
        balanceOf[from]--;
        balanceOf[to]++;
        owners[id] = to;
        emit Transfer(from, to, id);
    }

    function tokenURI(uint256 id) external view returns (string memory) {
        ownerOf(id);
        return "ipfs://pier-pass/season.json";
    }
}
