// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IV4Manager, V4Key} from "V4Liquidity.sol";

struct V4Swap {
    bool zeroForOne;
    int256 amountSpecified;
    uint160 sqrtPriceLimitX96;
}

interface IApproved {
    function approve(address spender, uint256 value) external returns (bool);
}

/// A hook of v4's pools that does in a swap what its maker likes: it makes a call
/// from within, and keeps a part of what the pool pays.
contract HostileHook {
    uint256 private countdown;
    address private target;
    bytes private data;
    uint256 public cutBips;

    /// The nth time from now on that the hook is asked, before and after each swap,
    /// it makes the call, or the swap does not happen.
    function arm(uint256 nth, address target_, bytes calldata data_) external {
        (countdown, target, data) = (nth, target_, data_);
    }

    function lend(IApproved token, address spender) external {
        token.approve(spender, type(uint256).max);
    }

    function cut(uint256 bips) external {
        cutBips = bips;
    }

    function beforeSwap(address, V4Key calldata, V4Swap calldata, bytes calldata)
        external
        returns (bytes4, int256, uint24)
    {
        _act();
        return (this.beforeSwap.selector, 0, 0);
    }

    function afterSwap(address, V4Key calldata key, V4Swap calldata swap, int256 delta, bytes calldata)
        external
        returns (bytes4, int128)
    {
        _act();
        int128 paid = swap.zeroForOne ? int128(delta) : int128(delta >> 128);
        int128 kept = int128(uint128(uint256(uint128(paid)) * cutBips / 10_000));
        if (kept > 0) {
            address currency = swap.zeroForOne ? key.currency1 : key.currency0;
            IV4Manager(msg.sender).take(currency, address(this), uint128(kept));
        }
        return (this.afterSwap.selector, kept);
    }

    function _act() private {
        if (countdown == 0 || --countdown > 0) return;
        (bool ok, bytes memory reason) = target.call(data);
        if (ok) return;
        assembly {
            revert(add(reason, 32), mload(reason))
        }
    }
}
