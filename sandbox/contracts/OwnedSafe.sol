// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// A contract that obeys one account, as a Safe with one owner does, an ownable
/// vault or a vesting contract. What it keeps is the owner's, and no allowance of the
/// owner's has anything to do with it.
contract OwnedSafe {
    address public immutable owner;

    constructor(address owner_) {
        owner = owner_;
    }

    receive() external payable {}

    /// Calls anything, for its owner. Coins that come along stay here.
    function execute(address to, uint256 value, bytes calldata data) external payable {
        require(msg.sender == owner, "OwnedSafe: not the owner");
        (bool ok,) = to.call{value: value}(data);
        require(ok, "OwnedSafe: the call failed");
    }
}

/// A contract that goes by who began the transaction, as none should: it obeys its
/// owner through whatever contract the owner calls.
contract OriginSafe {
    address public immutable owner;

    constructor(address owner_) {
        owner = owner_;
    }

    function execute(address to, bytes calldata data) external {
        require(tx.origin == owner, "OriginSafe: not the owner");
        (bool ok,) = to.call(data);
        require(ok, "OriginSafe: the call failed");
    }
}
