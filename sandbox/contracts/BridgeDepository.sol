// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {BridgeMoney} from "./BridgeMoney.sol";

interface IAllowance {
    function allowance(address owner, address spender) external view returns (uint256);
}

/// A stand-in with the paying-in side of the bridge's depository, whose
/// functions and events are published. What was paid in stays.
contract BridgeDepository {
    event RelayNativeDeposit(address from, uint256 amount, bytes32 id);
    event RelayErc20Deposit(address from, address token, uint256 amount, bytes32 id);

    function depositNative(address depositor, bytes32 id) external payable {
        emit RelayNativeDeposit(_named(depositor), msg.value, id);
    }

    function depositErc20(address depositor, address token, uint256 amount, bytes32 id) external {
        _deposit(depositor, token, amount, id);
    }

    /// Takes all that it is allowed to.
    function depositErc20(address depositor, address token, bytes32 id) external {
        _deposit(depositor, token, IAllowance(token).allowance(msg.sender, address(this)), id);
    }

    function _deposit(address depositor, address token, uint256 amount, bytes32 id) private {
        BridgeMoney.pull(token, msg.sender, address(this), amount);
        emit RelayErc20Deposit(_named(depositor), token, amount, id);
    }

    function _named(address depositor) private view returns (address) {
        return depositor == address(0) ? msg.sender : depositor;
    }
}
