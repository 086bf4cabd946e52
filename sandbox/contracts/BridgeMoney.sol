// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// Moves tokens, those that return nothing included, and the native coin, which
/// the zero address stands for.
library BridgeMoney {
    function pull(address token, address from, address to, uint256 amount) internal {
        _call(token, abi.encodeWithSignature("transferFrom(address,address,uint256)", from, to, amount));
    }

    function pay(address token, address to, uint256 amount) internal {
        if (token == address(0)) {
            (bool paid,) = to.call{value: amount}("");
            require(paid, "BridgeMoney: native transfer failed");
            return;
        }
        _call(token, abi.encodeWithSignature("transfer(address,uint256)", to, amount));
    }

    /// Lets spender take exactly the amount.
    function allow(address token, address spender, uint256 amount) internal {
        _call(token, abi.encodeWithSignature("approve(address,uint256)", spender, 0));
        _call(token, abi.encodeWithSignature("approve(address,uint256)", spender, amount));
    }

    function _call(address token, bytes memory data) private {
        require(token.code.length > 0, "BridgeMoney: no token");
        (bool done, bytes memory returned) = token.call(data);
        require(done && (returned.length == 0 || abi.decode(returned, (bool))), "BridgeMoney: token call failed");
    }
}
