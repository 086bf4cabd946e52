// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// A stand-in for an intent provider's deposit contract. The real one's
/// interface is not published, so here the selector, the number of words and
/// the order of the arguments are the constructor's: they differ from chain to
/// chain and from run to run, and nobody can rely on any of them.
contract IntentDeposit {
    address public immutable solver;

    bytes4 private immutable selector;
    uint256 private immutable words;
    uint256 private immutable tokenAt;
    uint256 private immutable amountAt;
    uint256 private immutable idAt;
    uint256 private immutable deadlineAt;

    event Deposited(bytes32 indexed id, address indexed depositor, address token, uint256 amount);

    /// `at` are the places of token, amount, id and deadline among the words.
    constructor(address solver_, bytes4 selector_, uint256 words_, uint256[4] memory at) {
        solver = solver_;
        selector = selector_;
        words = words_;
        (tokenAt, amountAt, idAt, deadlineAt) = (at[0], at[1], at[2], at[3]);
    }

    /// Takes a deposit: native coins sent along, or a token by allowance.
    fallback() external payable {
        require(msg.sig == selector && msg.data.length == 4 + 32 * words, "IntentDeposit: unknown call");
        require(block.timestamp <= _word(deadlineAt), "IntentDeposit: the quote has expired");
        address token = address(uint160(_word(tokenAt)));
        uint256 amount = _word(amountAt);
        if (token == address(0)) {
            require(msg.value >= amount, "IntentDeposit: too little was sent");
        } else {
            _callToken(token, abi.encodeWithSignature("transferFrom(address,address,uint256)", msg.sender, address(this), amount));
        }
        emit Deposited(bytes32(_word(idAt)), msg.sender, token, amount);
    }

    /// Pays out of what the contract holds; the zero address is the native coin.
    function release(address token, address payable to, uint256 amount) external {
        require(msg.sender == solver, "IntentDeposit: not the solver");
        if (token == address(0)) {
            (bool ok,) = to.call{value: amount}("");
            require(ok, "IntentDeposit: the recipient refused");
        } else {
            _callToken(token, abi.encodeWithSignature("transfer(address,uint256)", to, amount));
        }
    }

    function _word(uint256 at) private pure returns (uint256 w) {
        assembly {
            w := calldataload(add(4, mul(32, at)))
        }
    }

    /// Tokens of mainnet USDT's kind return nothing.
    function _callToken(address token, bytes memory data) private {
        (bool ok, bytes memory result) = token.call(data);
        require(ok && token.code.length > 0 && (result.length == 0 || abi.decode(result, (bool))), "IntentDeposit: the token refused");
    }
}
