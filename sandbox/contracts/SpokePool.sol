// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {BridgeMoney} from "./BridgeMoney.sol";

interface IWrappedCoin {
    function deposit() external payable;
    function withdraw(uint256 amount) external;
}

/// A stand-in for Across's SpokePool: its events are those of the real one, and so are the rules
/// of who is paid what; calls take their arguments as one struct. A fill of less than was promised
/// needs no proof here but the operator.
contract SpokePool {
    struct Deposit {
        bytes32 depositor;
        bytes32 recipient;
        bytes32 inputToken;
        bytes32 outputToken;
        uint256 inputAmount;
        uint256 outputAmount;
        uint256 destinationChainId;
        uint256 depositNonce;
        uint32 fillDeadline;
    }

    struct Relay {
        bytes32 depositor;
        bytes32 recipient;
        bytes32 inputToken;
        bytes32 outputToken;
        uint256 inputAmount;
        uint256 outputAmount;
        uint256 originChainId;
        uint256 depositId;
        uint32 fillDeadline;
    }

    struct RelayExecution {
        bytes32 updatedRecipient;
        bytes32 updatedMessageHash;
        uint256 updatedOutputAmount;
        uint8 fillType;
    }

    event FundsDeposited(
        bytes32 inputToken,
        bytes32 outputToken,
        uint256 inputAmount,
        uint256 outputAmount,
        uint256 indexed destinationChainId,
        uint256 indexed depositId,
        uint32 quoteTimestamp,
        uint32 fillDeadline,
        uint32 exclusivityDeadline,
        bytes32 indexed depositor,
        bytes32 recipient,
        bytes32 exclusiveRelayer,
        bytes message
    );
    event FilledRelay(
        bytes32 inputToken,
        bytes32 outputToken,
        uint256 inputAmount,
        uint256 outputAmount,
        uint256 repaymentChainId,
        uint256 indexed originChainId,
        uint256 indexed depositId,
        uint32 fillDeadline,
        uint32 exclusivityDeadline,
        bytes32 exclusiveRelayer,
        bytes32 indexed relayer,
        bytes32 depositor,
        bytes32 recipient,
        bytes32 messageHash,
        RelayExecution relayExecutionInfo
    );

    address private immutable wrapped;
    address private immutable operator;

    mapping(bytes32 => bool) public filled;

    constructor(address wrapped_, address operator_) {
        (wrapped, operator) = (wrapped_, operator_);
    }

    receive() external payable {}

    /// Takes a deposit. Its id is of the caller's choice, as of the real unsafeDeposit.
    function unsafeDeposit(Deposit calldata d) external payable {
        require(block.timestamp <= d.fillDeadline, "SpokePool: the quote has expired");
        address token = address(uint160(uint256(d.inputToken)));
        if (msg.value > 0) {
            require(token == wrapped && msg.value == d.inputAmount, "SpokePool: wrong value");
            IWrappedCoin(wrapped).deposit{value: msg.value}();
        } else {
            BridgeMoney.pull(token, msg.sender, address(this), d.inputAmount);
        }
        uint256 id = uint256(keccak256(abi.encodePacked(msg.sender, d.depositor, d.depositNonce)));
        emit FundsDeposited(
            d.inputToken, d.outputToken, d.inputAmount, d.outputAmount, d.destinationChainId, id,
            uint32(block.timestamp), d.fillDeadline, 0, d.depositor, d.recipient, bytes32(0), ""
        );
    }

    /// Pays what was promised, from the caller's tokens.
    function fillRelay(Relay calldata r) external {
        _fill(r, r.outputAmount, 0);
    }

    /// Pays less, out of what the pool holds.
    function fillSlowly(Relay calldata r, uint256 updatedOutputAmount) external {
        require(msg.sender == operator && updatedOutputAmount <= r.outputAmount, "SpokePool: not proven");
        _fill(r, updatedOutputAmount, 2);
    }

    function _fill(Relay calldata r, uint256 amount, uint8 fillType) private {
        bytes32 hash = keccak256(abi.encode(r, block.chainid));
        require(!filled[hash] && block.timestamp <= r.fillDeadline, "SpokePool: filled, or expired");
        filled[hash] = true;
        _log(r, fillType == 0 ? msg.sender : address(0), RelayExecution(r.recipient, bytes32(0), amount, fillType));
        address to = address(uint160(uint256(r.recipient)));
        address token = address(uint160(uint256(r.outputToken)));
        if (msg.sender == to && fillType == 0) return; // pays itself
        if (token == wrapped && to.code.length == 0) {
            if (fillType == 0) BridgeMoney.pull(token, msg.sender, address(this), amount);
            IWrappedCoin(wrapped).withdraw(amount);
            BridgeMoney.pay(address(0), to, amount);
        } else if (fillType == 0) {
            BridgeMoney.pull(token, msg.sender, to, amount);
        } else {
            BridgeMoney.pay(token, to, amount);
        }
    }

    /// Emits FilledRelay, which has more members than one statement can hold.
    function _log(Relay calldata r, address relayer, RelayExecution memory info) private {
        bytes memory data = bytes.concat(
            abi.encode(r.inputToken, r.outputToken, r.inputAmount, r.outputAmount, relayer == address(0) ? 0 : block.chainid),
            abi.encode(r.fillDeadline, uint32(0), bytes32(0), r.depositor, r.recipient, bytes32(0)),
            abi.encode(info)
        );
        (bytes32 topic, uint256 chain, uint256 id) = (FilledRelay.selector, r.originChainId, r.depositId);
        assembly {
            log4(add(data, 32), mload(data), topic, chain, id, relayer)
        }
    }
}
