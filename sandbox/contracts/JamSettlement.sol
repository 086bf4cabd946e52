// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import "./JamBalanceManager.sol";
import "./JamOrder.sol";

/// A stand-in for JAM v2's settlement: a solver gives the buy tokens from its
/// own balance and gets the sell tokens. Its domain, order type, event and the
/// one method of settling are the real ones; hooks and interactions it has none.
contract JamSettlement {
    event BebopJamOrderFilled(
        uint256 indexed nonce,
        address indexed user,
        address[] sellTokens,
        address[] buyTokens,
        uint256[] sellAmounts,
        uint256[] buyAmounts
    );

    error BuyTokensInvalidLength();
    error FailedToSendEth();
    error HooksNotSimulated();
    error InvalidCaller();
    error InvalidContractSignature();
    error InvalidExecutor();
    error InvalidFeePercentage();
    error InvalidFilledAmounts(uint256 expected, uint256 actual);
    error InvalidFilledAmountsLength();
    error InvalidNonce();
    error InvalidPartnerAddress();
    error InvalidSignature();
    error InvalidSignatureLength();
    error InvalidSigner();
    error OrderExpired();
    error Reentered();
    error SellTokensInvalidLength();
    error ZeroNonce();

    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    uint256 private constant ALL_BPS = 10_000;
    bytes32 private constant NO_HOOKS = 0;

    JamBalanceManager public immutable balanceManager;
    JamPermit2 private immutable permit2;
    address private immutable protocolFeeAddress;
    mapping(address => mapping(uint256 => uint256)) private usedNonces; // a bit each, 256 to a slot
    bool private transient settling;

    constructor(address balanceManager_, address permit2_, address protocolFeeAddress_) {
        balanceManager = JamBalanceManager(balanceManager_);
        permit2 = JamPermit2(permit2_);
        protocolFeeAddress = protocolFeeAddress_;
    }

    receive() external payable {}

    /// Settles an order from the caller's own balance. The filled amounts are
    /// what the caller pays, the fees of partnerInfo included; empty means the
    /// least that the taker signed, for an order without fees.
    function settleInternal(
        JamOrder calldata order,
        bytes calldata signature,
        uint256[] calldata filledAmounts,
        bytes calldata hooksData
    ) external payable {
        require(!settling, Reentered());
        settling = true;
        require(hooksData.length == 0, HooksNotSimulated());
        _validate(order, signature);
        if (order.usingPermit2) {
            balanceManager.transferTokensWithPermit2(order, signature, NO_HOOKS, msg.sender);
        } else {
            balanceManager.transferTokens(order.sellTokens, order.sellAmounts, order.taker, msg.sender);
        }
        uint256[] memory paid = _pay(order, filledAmounts);
        emit BebopJamOrderFilled(order.nonce, order.taker, order.sellTokens, order.buyTokens, order.sellAmounts, paid);
        settling = false;
    }

    /// Pays fees and receiver and returns what the receiver got.
    function _pay(JamOrder calldata order, uint256[] calldata filled) private returns (uint256[] memory net) {
        uint256 n = order.buyAmounts.length;
        net = filled.length == 0 && order.partnerInfo == 0 ? order.buyAmounts : filled;
        require(net.length == n, InvalidFilledAmountsLength());
        uint256[] memory forProtocol = new uint256[](n);
        uint256[] memory forPartner = new uint256[](n);
        (address partner, uint256 partnerBps, uint256 protocolBps) = _unpack(order.partnerInfo);
        for (uint256 i = 0; i < n; i++) {
            forProtocol[i] = net[i] * protocolBps / ALL_BPS;
            forPartner[i] = net[i] * partnerBps / ALL_BPS;
            net[i] -= forProtocol[i] + forPartner[i];
            require(net[i] >= order.buyAmounts[i], InvalidFilledAmounts(order.buyAmounts[i], net[i]));
        }
        balanceManager.transferTokens(order.buyTokens, net, msg.sender, order.receiver);
        if (protocolBps > 0) balanceManager.transferTokens(order.buyTokens, forProtocol, msg.sender, protocolFeeAddress);
        if (partnerBps > 0) balanceManager.transferTokens(order.buyTokens, forPartner, msg.sender, partner);
    }

    /// A partner's address, its fee and the protocol's, from the highest bits down.
    function _unpack(uint256 info) private pure returns (address partner, uint256 partnerBps, uint256 protocolBps) {
        (partner, partnerBps, protocolBps) = (address(uint160(info >> 32)), uint16(info >> 16), uint16(info));
        require(partnerBps + protocolBps < ALL_BPS, InvalidFeePercentage());
        require((partnerBps == 0) == (partner == address(0)), InvalidPartnerAddress());
    }

    /// Lets the balance manager pay native coins that a solver sent along.
    function transferNativeFromContract(address receiver, uint256 amount) external {
        require(msg.sender == address(balanceManager), InvalidCaller());
        (bool sent,) = receiver.call{value: amount}("");
        require(sent, FailedToSendEth());
    }

    function _validate(JamOrder calldata order, bytes calldata signature) private {
        if (!order.usingPermit2) {
            // With Permit2, that contract checks signature and nonce.
            if (order.taker != msg.sender) _checkSignature(order.taker, hashJamOrder(order, NO_HOOKS), signature);
            _useNonce(order.taker, order.nonce);
        }
        require(
            order.executor == msg.sender || order.executor == address(0) || block.timestamp > order.exclusivityDeadline,
            InvalidExecutor()
        );
        require(order.buyTokens.length == order.buyAmounts.length, BuyTokensInvalidLength());
        require(order.sellTokens.length == order.sellAmounts.length, SellTokensInvalidLength());
        require(block.timestamp < order.expiry, OrderExpired());
    }

    function _useNonce(address taker, uint256 nonce) private {
        require(nonce != 0, ZeroNonce());
        (uint256 slot, uint256 bit) = (nonce >> 8, 1 << (nonce & 0xff));
        uint256 used = usedNonces[taker][slot];
        require(used & bit == 0, InvalidNonce());
        usedNonces[taker][slot] = used | bit;
    }

    function _checkSignature(address signer, bytes32 digest, bytes calldata signature) private view {
        if (signer.code.length > 0) {
            (bool ok, bytes memory ret) =
                signer.staticcall(abi.encodeWithSignature("isValidSignature(bytes32,bytes)", digest, signature));
            require(ok && ret.length >= 32 && bytes4(ret) == 0x1626ba7e, InvalidContractSignature());
            return;
        }
        bytes32 s = signature.length >= 64 ? bytes32(signature[32:64]) : bytes32(0);
        uint8 v;
        if (signature.length == 65) {
            v = uint8(signature[64]);
        } else {
            require(signature.length == 64, InvalidSignatureLength());
            v = uint8(uint256(s) >> 255) + 27; // EIP-2098
            s &= bytes32(type(uint256).max >> 1);
        }
        address recovered = ecrecover(digest, v, bytes32(signature[:32]), s);
        require(recovered != address(0), InvalidSignature());
        require(recovered == signer, InvalidSigner());
    }

    /// What the taker signs: the order itself, or the Permit2 permit around it.
    function hashJamOrder(JamOrder calldata order, bytes32 hooksHash) public view returns (bytes32) {
        return order.usingPermit2
            ? _digest(permit2.DOMAIN_SEPARATOR(), JamOrders.permitHash(order, hooksHash, address(balanceManager)))
            : _digest(DOMAIN_SEPARATOR(), JamOrders.hash(order, hooksHash));
    }

    function _digest(bytes32 separator, bytes32 structHash) private pure returns (bytes32) {
        return keccak256(bytes.concat("\x19\x01", separator, structHash));
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(abi.encode(DOMAIN_TYPEHASH, keccak256("JamSettlement"), keccak256("2"), block.chainid, address(this)));
    }

    /// The domain as ERC-5267 shows it.
    function eip712Domain()
        external
        view
        returns (bytes1, string memory, string memory, uint256, address, bytes32, uint256[] memory)
    {
        return (hex"0f", "JamSettlement", "2", block.chainid, address(this), 0, new uint256[](0));
    }
}
