// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {BridgeMoney} from "./BridgeMoney.sol";

/// What a call of the router or of its approval proxy asks for. The zero address
/// is the native coin.
struct BridgeOrder {
    address tokenIn;
    uint256 amountIn;
    address tokenOut;
    uint256 amountOut;
    uint256 least; // of tokenOut, else the call reverts
    address recipient;
    address depositor; // if not zero, tokenOut is deposited in this name instead of paid to the recipient
    bytes32 id;
}

/// Reads an order from calldata whose selector and order of arguments are
/// another in every sandbox: the real ones are not published, so nobody may
/// depend on them. Byte n of a layout is the word in which field n stands.
library BridgeLayout {
    function read(bytes4 selector, bytes32 layout) internal pure returns (BridgeOrder memory order) {
        require(msg.sig == selector && selector != 0, "BridgeLayout: unknown selector");
        order.tokenIn = address(uint160(_word(layout, 0)));
        order.amountIn = _word(layout, 1);
        order.tokenOut = address(uint160(_word(layout, 2)));
        order.amountOut = _word(layout, 3);
        order.least = _word(layout, 4);
        order.recipient = address(uint160(_word(layout, 5)));
        order.depositor = address(uint160(_word(layout, 6)));
        order.id = bytes32(_word(layout, 7));
    }

    function _word(bytes32 layout, uint256 field) private pure returns (uint256 word) {
        uint256 at = 4 + 32 * uint256(uint8(layout[field]));
        require(msg.data.length >= at + 32, "BridgeLayout: calldata too short");
        assembly {
            word := calldataload(at)
        }
    }
}

interface IBridgeDepository {
    function depositNative(address depositor, bytes32 id) external payable;
    function depositErc20(address depositor, address token, uint256 amount, bytes32 id) external;
}

/// A stand-in for the bridge's router. It swaps against a stock of its own, at
/// the rate that the order names, and never pays less than the order demands.
contract BridgeRouter {
    bytes4 private immutable selector;
    bytes32 private immutable layout;
    address private immutable proxy;
    address private immutable depository;

    /// What the market has moved against every order since it was quoted, in
    /// basis points. Anybody may set it: this is a sandbox.
    uint256 public haircut;

    event Routed(bytes32 id, address token, uint256 amount, address to);
    event SolverNativeTransfer(address to, uint256 amount); // as the real router logs

    constructor(bytes4 selector_, bytes32 layout_, address proxy_, address depository_) {
        (selector, layout, proxy, depository) = (selector_, layout_, proxy_, depository_);
    }

    receive() external payable {}

    /// Native coin in.
    fallback() external payable {
        BridgeOrder memory order = BridgeLayout.read(selector, layout);
        require(order.tokenIn == address(0) && msg.value == order.amountIn, "BridgeRouter: wrong value");
        _settle(order);
    }

    /// Tokens in, which the proxy has moved here.
    function settle(BridgeOrder calldata order) external {
        require(msg.sender == proxy, "BridgeRouter: not the proxy");
        _settle(order);
    }

    function setHaircut(uint256 bips) external {
        require(bips <= 10_000, "BridgeRouter: more than all");
        haircut = bips;
    }

    function _settle(BridgeOrder memory order) private {
        uint256 amount = order.amountOut - order.amountOut * haircut / 10_000;
        require(amount >= order.least, "BridgeRouter: too little received");
        if (order.depositor == address(0)) {
            BridgeMoney.pay(order.tokenOut, order.recipient, amount);
            if (order.tokenOut == address(0)) emit SolverNativeTransfer(order.recipient, amount);
            emit Routed(order.id, order.tokenOut, amount, order.recipient);
            return;
        }
        if (order.tokenOut == address(0)) {
            IBridgeDepository(depository).depositNative{value: amount}(order.depositor, order.id);
        } else {
            BridgeMoney.allow(order.tokenOut, depository, amount);
            IBridgeDepository(depository).depositErc20(order.depositor, order.tokenOut, amount, order.id);
        }
        emit Routed(order.id, order.tokenOut, amount, depository);
    }
}

/// A stand-in for the contract that swappers of tokens give their allowance to.
contract BridgeApprovalProxy {
    bytes4 private immutable selector;
    bytes32 private immutable layout;
    BridgeRouter private immutable router;

    constructor(bytes4 selector_, bytes32 layout_, BridgeRouter router_) {
        (selector, layout, router) = (selector_, layout_, router_);
    }

    fallback() external {
        BridgeOrder memory order = BridgeLayout.read(selector, layout);
        BridgeMoney.pull(order.tokenIn, msg.sender, address(router), order.amountIn);
        router.settle(order);
    }
}
