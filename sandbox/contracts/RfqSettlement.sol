// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

interface RfqPermit2 {
    struct PermitDetails {
        address token;
        uint160 amount;
        uint48 expiration;
        uint48 nonce;
    }

    struct PermitBatch {
        PermitDetails[] details;
        address spender;
        uint256 sigDeadline;
    }

    function permit(address owner, PermitBatch calldata batch, bytes calldata signature) external;
    function transferFrom(address from, address to, uint160 amount, address token) external;
}

/// A stand-in for the settlement of RFQ trades with one maker and one token on
/// each side. Its domain, order type, methods and event are the real ones.
contract RfqSettlement {
    /// The upper 128 bits of flags are the event's id, the next 64 the partner's;
    /// neither is signed but the partner's.
    struct Single {
        uint256 expiry;
        address taker_address;
        address maker_address;
        uint256 maker_nonce;
        address taker_token;
        address maker_token;
        uint256 taker_amount;
        uint256 maker_amount;
        address receiver;
        uint256 packed_commands;
        uint256 flags;
    }

    struct MakerSignature {
        bytes signatureBytes;
        uint256 flags;
    }

    /// What the taker signed, where the maker gives more by now.
    struct OldSingleQuote {
        bool useOldAmount;
        uint256 makerAmount;
        uint256 makerNonce;
    }

    struct Permit2Signature {
        bytes signatureBytes;
        uint48 deadline;
        uint48 nonce;
    }

    event BebopOrder(uint128 indexed eventId);

    error AmountTooLarge();
    error FailedToSendNativeToken();
    error InvalidEIP712Signature();
    error InvalidNonce();
    error InvalidSender();
    error InvalidSignatureLength();
    error NativeTakerNotSimulated();
    error OrderExpired();
    error TransferFailed();
    error UpdatedMakerAmountsTooLow();
    error ZeroMakerAmount();
    error ZeroNonce();

    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant SINGLE_TYPEHASH = keccak256(
        "SingleOrder(uint64 partner_id,uint256 expiry,address taker_address,address maker_address,uint256 maker_nonce,"
        "address taker_token,address maker_token,uint256 taker_amount,uint256 maker_amount,address receiver,uint256 packed_commands)"
    );
    // The bits of packed_commands.
    uint256 private constant TAKER_NATIVE = 1;
    uint256 private constant MAKER_NATIVE = 2;
    uint256 private constant TAKER_PERMIT2 = 4;

    address private immutable wrapped;
    RfqPermit2 private immutable permit2;
    mapping(address => mapping(uint256 => uint256)) private usedNonces; // by maker; a bit each, 256 to a slot

    constructor(address wrapped_, address permit2_) {
        wrapped = wrapped_;
        permit2 = RfqPermit2(permit2_);
    }

    receive() external payable {}

    /// Settles in the taker's own transaction.
    function swapSingle(Single calldata order, MakerSignature calldata makerSignature, uint256 filledTakerAmount)
        external
        payable
    {
        require(msg.sender == order.taker_address, InvalidSender());
        _execute(order, makerSignature, filledTakerAmount, order.packed_commands & TAKER_PERMIT2 != 0, order.maker_amount);
    }

    /// Settles on the taker's signature.
    function settleSingle(
        Single calldata order,
        MakerSignature calldata makerSignature,
        uint256 filledTakerAmount,
        OldSingleQuote calldata quoted,
        bytes calldata takerSignature
    ) external payable {
        _validateTaker(order, quoted, takerSignature);
        _execute(order, makerSignature, filledTakerAmount, order.packed_commands & TAKER_PERMIT2 != 0, _given(order, quoted));
    }

    /// Settles on the taker's signature, and on another that lets Permit2 hand
    /// the taker's token over.
    function settleSingleAndSignPermit2(
        Single calldata order,
        MakerSignature calldata makerSignature,
        uint256 filledTakerAmount,
        OldSingleQuote calldata quoted,
        bytes calldata takerSignature,
        Permit2Signature calldata permission
    ) external payable {
        _validateTaker(order, quoted, takerSignature);
        RfqPermit2.PermitBatch memory batch;
        batch.details = new RfqPermit2.PermitDetails[](1);
        batch.details[0] =
            RfqPermit2.PermitDetails(order.taker_token, type(uint160).max, permission.deadline, permission.nonce);
        (batch.spender, batch.sigDeadline) = (address(this), permission.deadline);
        permit2.permit(order.taker_address, batch, permission.signatureBytes);
        _execute(order, makerSignature, filledTakerAmount, true, _given(order, quoted));
    }

    function _given(Single calldata order, OldSingleQuote calldata quoted) private pure returns (uint256) {
        return quoted.useOldAmount ? quoted.makerAmount : order.maker_amount;
    }

    function _validateTaker(Single calldata order, OldSingleQuote calldata quoted, bytes calldata signature) private {
        require(order.maker_amount >= quoted.makerAmount, UpdatedMakerAmountsTooLow());
        require(quoted.makerAmount != 0, ZeroMakerAmount());
        if (quoted.makerNonce != order.maker_nonce) _useNonce(order.maker_address, quoted.makerNonce);
        if (msg.sender == order.taker_address) return;
        bytes32 digest = hashSingleOrder(order, _partner(order), quoted.makerAmount, quoted.makerNonce);
        _checkSignature(order.taker_address, digest, signature);
    }

    function _execute(
        Single calldata order,
        MakerSignature calldata makerSignature,
        uint256 filledTakerAmount,
        bool usingPermit2,
        uint256 makerAmount
    ) private {
        // A maker who settles himself need not sign; the real contract wants it.
        if (msg.sender != order.maker_address) {
            _checkSignature(order.maker_address, hashSingleOrder(order, _partner(order), 0, 0), makerSignature.signatureBytes);
        }
        _useNonce(order.maker_address, order.maker_nonce);
        require(block.timestamp < order.expiry, OrderExpired());
        require(order.packed_commands & TAKER_NATIVE == 0 && msg.value == 0, NativeTakerNotSimulated());
        uint256 taken = order.taker_amount;
        if (filledTakerAmount != 0 && filledTakerAmount < taken) {
            // A part, at the same price: whoever settles chooses, nobody signed it.
            makerAmount = makerAmount * filledTakerAmount / taken;
            taken = filledTakerAmount;
        }
        if (usingPermit2) {
            require(taken <= type(uint160).max, AmountTooLarge());
            permit2.transferFrom(order.taker_address, order.maker_address, uint160(taken), order.taker_token);
        } else {
            _pull(order.taker_token, order.taker_address, order.maker_address, taken);
        }
        if (order.packed_commands & MAKER_NATIVE == 0) {
            _pull(order.maker_token, order.maker_address, order.receiver, makerAmount);
        } else {
            _pull(wrapped, order.maker_address, address(this), makerAmount);
            _unwrap(order.receiver, makerAmount);
        }
        emit BebopOrder(uint128(order.flags >> 128));
    }

    function _partner(Single calldata order) private pure returns (uint64) {
        return uint64(order.flags >> 64);
    }

    function _useNonce(address maker, uint256 nonce) private {
        require(nonce != 0, ZeroNonce());
        (uint256 slot, uint256 bit) = (nonce >> 8, 1 << (nonce & 0xff));
        uint256 used = usedNonces[maker][slot];
        require(used & bit == 0, InvalidNonce());
        usedNonces[maker][slot] = used | bit;
    }

    function _pull(address token, address from, address to, uint256 amount) private {
        (bool ok, bytes memory ret) =
            token.call(abi.encodeWithSignature("transferFrom(address,address,uint256)", from, to, amount));
        require(ok && token.code.length > 0 && (ret.length == 0 || abi.decode(ret, (bool))), TransferFailed());
    }

    function _unwrap(address receiver, uint256 amount) private {
        (bool ok,) = wrapped.call(abi.encodeWithSignature("withdraw(uint256)", amount));
        require(ok, TransferFailed());
        (ok,) = receiver.call{value: amount}("");
        require(ok, FailedToSendNativeToken());
    }

    function _checkSignature(address signer, bytes32 digest, bytes calldata signature) private pure {
        require(signature.length == 65, InvalidSignatureLength());
        address recovered = ecrecover(digest, uint8(signature[64]), bytes32(signature[:32]), bytes32(signature[32:64]));
        require(recovered != address(0) && recovered == signer, InvalidEIP712Signature());
    }

    /// What maker and taker sign. An updated amount or nonce of 0 is the order's.
    function hashSingleOrder(Single calldata o, uint64 partnerId, uint256 updatedMakerAmount, uint256 updatedMakerNonce)
        public
        view
        returns (bytes32)
    {
        // In two parts: one call with twelve values is more than the stack holds.
        bytes memory head = abi.encode(
            SINGLE_TYPEHASH,
            partnerId,
            o.expiry,
            o.taker_address,
            o.maker_address,
            updatedMakerNonce == 0 ? o.maker_nonce : updatedMakerNonce
        );
        bytes memory tail = abi.encode(
            o.taker_token,
            o.maker_token,
            o.taker_amount,
            updatedMakerAmount == 0 ? o.maker_amount : updatedMakerAmount,
            o.receiver,
            o.packed_commands
        );
        return keccak256(bytes.concat("\x19\x01", DOMAIN_SEPARATOR(), keccak256(bytes.concat(head, tail))));
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(abi.encode(DOMAIN_TYPEHASH, keccak256("BebopSettlement"), keccak256("2"), block.chainid, address(this)));
    }
}
