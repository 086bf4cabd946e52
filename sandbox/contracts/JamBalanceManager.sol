// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import "./JamOrder.sol";

interface JamPermit2 {
    struct TokenPermissions {
        address token;
        uint256 amount;
    }

    struct PermitBatchTransferFrom {
        TokenPermissions[] permitted;
        uint256 nonce;
        uint256 deadline;
    }

    struct SignatureTransferDetails {
        address to;
        uint256 requestedAmount;
    }

    function DOMAIN_SEPARATOR() external view returns (bytes32);

    function permitWitnessTransferFrom(
        PermitBatchTransferFrom calldata permit,
        SignatureTransferDetails[] calldata details,
        address owner,
        bytes32 witness,
        string calldata witnessType,
        bytes calldata signature
    ) external;
}

interface JamCoins {
    function transferNativeFromContract(address receiver, uint256 amount) external;
}

/// A stand-in for JAM v2's balance manager, which users approve. Only the
/// settlement moves tokens through it.
contract JamBalanceManager {
    address public constant NATIVE = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;
    address private immutable operator;
    JamPermit2 private immutable permit2;

    error InvalidCaller();

    constructor(address operator_, address permit2_) {
        operator = operator_;
        permit2 = JamPermit2(permit2_);
    }

    modifier onlyOperator() {
        require(msg.sender == operator, InvalidCaller());
        _;
    }

    /// Moves what the sender has allowed; native coins come out of the settlement.
    function transferTokens(address[] calldata tokens, uint256[] calldata amounts, address sender, address receiver)
        external
        onlyOperator
    {
        for (uint256 i = 0; i < tokens.length; i++) {
            if (tokens[i] == NATIVE) {
                JamCoins(operator).transferNativeFromContract(receiver, amounts[i]);
            } else {
                _pull(tokens[i], sender, receiver, amounts[i]);
            }
        }
    }

    /// Moves the order's sell tokens on its taker's Permit2 signature.
    function transferTokensWithPermit2(JamOrder calldata order, bytes calldata signature, bytes32 hooksHash, address receiver)
        external
        onlyOperator
    {
        uint256 n = order.sellTokens.length;
        JamPermit2.PermitBatchTransferFrom memory permit;
        permit.permitted = new JamPermit2.TokenPermissions[](n);
        (permit.nonce, permit.deadline) = (order.nonce, order.expiry);
        JamPermit2.SignatureTransferDetails[] memory details = new JamPermit2.SignatureTransferDetails[](n);
        for (uint256 i = 0; i < n; i++) {
            permit.permitted[i] = JamPermit2.TokenPermissions(order.sellTokens[i], order.sellAmounts[i]);
            details[i] = JamPermit2.SignatureTransferDetails(receiver, order.sellAmounts[i]);
        }
        permit2.permitWitnessTransferFrom(
            permit, details, order.taker, JamOrders.hash(order, hooksHash), JamOrders.witnessType(), signature
        );
    }

    function _pull(address token, address from, address to, uint256 amount) private {
        (bool ok, bytes memory ret) =
            token.call(abi.encodeWithSignature("transferFrom(address,address,uint256)", from, to, amount));
        require(ok && token.code.length > 0 && (ret.length == 0 || abi.decode(ret, (bool))), "TRANSFER_FROM_FAILED");
    }
}
