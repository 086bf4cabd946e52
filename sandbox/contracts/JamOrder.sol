// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// An order of JAM v2 as its contracts take it.
struct JamOrder {
    address taker;
    address receiver;
    uint256 expiry;
    uint256 exclusivityDeadline;
    uint256 nonce;
    address executor;
    uint256 partnerInfo;
    address[] sellTokens;
    address[] buyTokens;
    uint256[] sellAmounts;
    uint256[] buyAmounts;
    bool usingPermit2;
}

/// What the user of an order signs, as EIP-712 has it.
library JamOrders {
    string internal constant TYPE = "JamOrder(address taker,address receiver,uint256 expiry,uint256 exclusivityDeadline,uint256 nonce,address executor,uint256 partnerInfo,"
        "address[] sellTokens,address[] buyTokens,uint256[] sellAmounts,uint256[] buyAmounts,bytes32 hooksHash)";
    string internal constant PERMISSIONS = "TokenPermissions(address token,uint256 amount)";
    /// The type of a Permit2 permit from the witness on.
    function witnessType() internal pure returns (string memory) {
        return string.concat("JamOrder witness)", TYPE, PERMISSIONS);
    }

    function hash(JamOrder calldata o, bytes32 hooksHash) internal pure returns (bytes32) {
        // In two parts: one call with thirteen values is more than the stack holds.
        bytes memory head = abi.encode(
            keccak256(bytes(TYPE)), o.taker, o.receiver, o.expiry, o.exclusivityDeadline, o.nonce, o.executor, o.partnerInfo
        );
        bytes memory tail = abi.encode(
            keccak256(abi.encodePacked(o.sellTokens)),
            keccak256(abi.encodePacked(o.buyTokens)),
            keccak256(abi.encodePacked(o.sellAmounts)),
            keccak256(abi.encodePacked(o.buyAmounts)),
            hooksHash
        );
        return keccak256(bytes.concat(head, tail));
    }

    /// The Permit2 permit that carries the order as its witness. Its nonce and
    /// deadline are the order's.
    function permitHash(JamOrder calldata o, bytes32 hooksHash, address spender) internal pure returns (bytes32) {
        bytes32[] memory permitted = new bytes32[](o.sellTokens.length);
        for (uint256 i = 0; i < permitted.length; i++) {
            permitted[i] = keccak256(abi.encode(keccak256(bytes(PERMISSIONS)), o.sellTokens[i], o.sellAmounts[i]));
        }
        bytes32 permitType = keccak256(
            bytes.concat(
                "PermitBatchWitnessTransferFrom(TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline,",
                bytes(witnessType())
            )
        );
        return keccak256(
            abi.encode(permitType, keccak256(abi.encodePacked(permitted)), spender, o.nonce, o.expiry, hash(o, hooksHash))
        );
    }
}
