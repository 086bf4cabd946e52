// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// A token whose transfers do what its maker likes besides: one of them, which
/// anybody may choose, makes a call from within. What it holds of other tokens
/// it lets anybody have.
contract HostileToken {
    string public constant name = "Hostile";
    string public constant symbol = "HOSTILE";
    uint8 public constant decimals = 18;
    uint256 public constant totalSupply = 1e36;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    uint256 private countdown;
    address private target;
    bytes private data;

    constructor() {
        balanceOf[msg.sender] = totalSupply;
    }

    /// The nth transfer from now on makes the call, or does not happen.
    function arm(uint256 nth, address target_, bytes calldata data_) external {
        (countdown, target, data) = (nth, target_, data_);
    }

    function lend(HostileToken token, address spender) external {
        token.approve(spender, type(uint256).max);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value;
        _move(from, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function _move(address from, address to, uint256 value) private {
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
        if (countdown == 0 || --countdown > 0) return;
        (bool ok, bytes memory reason) = target.call(data);
        if (ok) return;
        assembly {
            revert(add(reason, 32), mload(reason))
        }
    }
}
